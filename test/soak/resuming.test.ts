import { describe, expect, onTestFinished, test } from 'vitest';
import type { SoakContext } from '../../soak/context.ts';
import { expectedPools } from '../../soak/expected/pools.ts';
import { createJudge } from '../../soak/judge.ts';
import { createOutages } from '../../soak/outages.ts';
import { routeToOne } from '../../soak/routes.ts';
import { createServedBlocks } from '../../soak/served-blocks.ts';
import { createShownBlocks } from '../../soak/shown-blocks.ts';
import { createAllPricesSubscription } from '../../soak/subscriptions/prices.ts';
import { createSandboxHosts } from '../../src/sandbox/sandbox.ts';

/** Three heights, all of which were served as the newest, and a client that received the first. */
async function startResumed() {
  const sandbox = await createSandboxHosts({ history: 10 });
  onTestFinished(() => sandbox.close());
  const shown = createShownBlocks(sandbox);
  const outages = createOutages(1);
  const served = createServedBlocks(shown, outages);
  const judge = createJudge(outages, () => {});
  const signal = new AbortController().signal;
  const url = new URL('http://gateway');
  const routes = routeToOne(url);
  const context: SoakContext = { url, routes, replicas: 1, shown, served, outages, judge, load: 1, signal };
  const after = shown.chain.tip.height;
  for (let block = 0; block < 2; block++) {
    shown.advance();
    const now = performance.now();
    served.mismatch(shown.chain.tip.height, { sentAt: now, answeredAt: now, minHeight: 0 }, () => undefined);
  }
  const subscription = createAllPricesSubscription(context, after);

  /** Checks the correct update of `after + height`, after the update of `after + previous`. */
  function take(height: number, previous: number) {
    const block = shown.chain.block(after + height);
    if (!block) throw new Error(`there is no block ${height} later`);
    return subscription.check({
      prices: {
        beaconHeight: after + height,
        previousHeight: after + previous,
        missedHeights: Math.max(0, height - previous - 1),
        blockTime: new Date(block.time * 1_000).toISOString(),
        poolPairs: [...expectedPools(shown.chain, block).values()],
      },
    });
  }
  return { after, subscription, take };
}

describe('a client that resumes', () => {
  test('receives each height that it missed', async () => {
    const { after, subscription, take } = await startResumed();
    expect([take(1, 0), take(2, 1)]).toEqual([undefined, undefined]);
    expect(subscription.resumed()?.after).toBe(after + 2);
  });

  test('must not skip a height, even if previousHeight says so', async () => {
    const { after, take } = await startResumed();
    expect(take(2, 0)).toBe(`${after + 1} is skipped between ${after} and ${after + 2}, after a resume from ${after}`);
  });

  test('must not receive a height twice', async () => {
    const { after, take } = await startResumed();
    expect(take(0, 0)).toBe(`the same block of height ${after} received twice in a row`);
    expect([take(1, 0), take(1, 1)]).toEqual([
      undefined,
      `the same block of height ${after + 1} received twice in a row`,
    ]);
  });
});
