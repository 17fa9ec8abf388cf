import { type Outages, PAUSED_WITH_SOAK } from './outages.ts';

const CHECK_INTERVAL_MS = 50;

/** A longer delay of the event loop may delay responses of the hosts by more than the gateway accepts. */
const MAX_DELAY_MS = 250;

/**
 * Records delays of this process's event loop as outages, because the hosts of the sandbox run in it.
 *
 * @returns a function that stops it
 */
export function watchEventLoop(outages: Outages, nodes: number): () => void {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - last > MAX_DELAY_MS) {
      for (let node = 0; node < nodes; node++) outages.begin(node, PAUSED_WITH_SOAK)();
      outages.begin('market data', PAUSED_WITH_SOAK)();
    }
    last = now;
  }, CHECK_INTERVAL_MS);
  return () => clearInterval(timer);
}
