import type { Outages } from './outages.ts';

const LOOKS_EVERY_MS = 50;

/** Held up for longer than this, the hosts may have been too late for the gateway. */
const HELD_UP_MS = 250;

/**
 * Notices when this process is held up, by the machine or by itself: the hosts of the sandbox live in it, and are held up
 * with it.
 *
 * @returns how to stop
 */
export function noticeDelays(outages: Outages, nodes: number): () => void {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - last > HELD_UP_MS) {
      for (let node = 0; node < nodes; node++) outages.begin(node, 'held up with the soak')();
      outages.begin('market data', 'held up with the soak')();
    }
    last = now;
  }, LOOKS_EVERY_MS);
  return () => clearInterval(timer);
}
