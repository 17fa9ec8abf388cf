import { describe, expect, onTestFinished, test } from 'vitest';
import { createJudge } from '../../soak/judge.ts';
import { createOutages } from '../../soak/outages.ts';
import { createServed } from '../../soak/served.ts';
import type { Stage } from '../../soak/stage.ts';
import { createAllPricesStream } from '../../soak/streams/prices-stream.ts';
import { poolsAt } from '../../soak/truth/pools.ts';
import { createShownBlocks } from '../../soak/truth/shown-blocks.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';

/** Three heights, all of which were told as the current one, and a client that got the first. */
async function startResumed() {
  const sandbox = await createSandbox();
  onTestFinished(() => sandbox.close());
  const shown = createShownBlocks(sandbox);
  const outages = createOutages(1);
  const served = createServed(shown, outages);
  const judge = createJudge(outages, () => {});
  const signal = new AbortController().signal;
  const stage: Stage = { url: new URL('http://gateway'), shown, served, outages, judge, load: 1, signal };
  const after = shown.chain.tip.height;
  for (let block = 0; block < 2; block++) {
    shown.advance();
    const now = performance.now();
    served.misfit(shown.chain.tip.height, { sentAt: now, answeredAt: now, floor: 0 }, () => undefined);
  }
  const stream = createAllPricesStream(stage, after);

  /** Takes the true update of so many heights later, after one of so many heights later. */
  function take(height: number, previous: number) {
    const block = shown.chain.block(after + height);
    if (!block) throw new Error(`there is no block ${height} later`);
    return stream.take({
      prices: {
        beaconHeight: after + height,
        previousHeight: after + previous,
        missedHeights: Math.max(0, height - previous - 1),
        blockTime: new Date(block.time * 1_000).toISOString(),
        poolPairs: [...poolsAt(shown.chain, block).values()],
      },
    });
  }
  return { after, stream, take };
}

describe('a client that comes back', () => {
  test('is right to get each height that it missed', async () => {
    const { after, stream, take } = await startResumed();
    expect([take(1, 0), take(2, 1)]).toEqual([undefined, undefined]);
    expect(stream.resumed()?.after).toBe(after + 2);
  });

  test('must not have one passed over, though that is said', async () => {
    const { after, take } = await startResumed();
    expect(take(2, 0)).toBe(
      `${after + 1} is passed over between ${after} and ${after + 2}, who came back after ${after}`,
    );
  });

  test('must not get twice what it has', async () => {
    const { after, take } = await startResumed();
    expect(take(0, 0)).toBe(`height ${after} for the 2. time`);
  });
});
