import type { Random } from '../src/sandbox/chain/random.ts';
import { pause } from './context.ts';
import type { Outages } from './outages.ts';
import type { ShownBlocks } from './shown-blocks.ts';

/** Produces blocks until the signal aborts: mostly one by one, sometimes many at once or none for long. It also replaces tips. */
export async function produceBlocks(
  shown: ShownBlocks,
  outages: Pick<Outages, 'replaceTip'>,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const chance = random.unit();
    if (chance < 0.04) await burst(shown, random, signal);
    else if (chance < 0.07) await pause(random, 3_000, 6_000, signal);
    else {
      await pause(random, 800, 1_800, signal);
      shown.advance();
    }
    // A tip is replaced at any time: immediately, while the gateway reads it, or long after.
    for (let times = random.chance(0.25) ? 1 + random.below(2) : 0; times > 0; times--) {
      await pause(random, 0, random.chance(0.5) ? 150 : 900, signal);
      shown.replaceTip();
      outages.replaceTip(shown.chain.tip.height);
    }
  }
}

async function burst(shown: ShownBlocks, random: Random, signal: AbortSignal): Promise<void> {
  for (let left = 4 + random.below(12); left > 0; left--) {
    shown.advance(1 + random.below(2));
    await pause(random, 20, 200, signal);
  }
}
