import { startLoadGenerator } from '../load-generator.ts';
import { onePool, pageAfter, toPost } from '../operations.ts';
import { createResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { GATEWAY } from '../targets.ts';
import { startTestbed } from '../testbed.ts';

/** The upstream calls that requests of clients cause while nothing changes. */
export const upstreamCalls: Row = { name: 'upstream-calls', comparesCheckouts: true, run };

/** Polls depend on time and not on requests: with this interval there are none. */
const SETTINGS = { HEAD_POLL_MS: '3600000', MARKET_POLL_MS: '3600000', BOOK_SWEEP_PER_MINUTE: '0' };

/** The number of different pools and pages, so that not all responses come from the cache. */
const DIFFERENT = 500;

async function run({ quick, checkouts, log }: RowContext): Promise<readonly Result[]> {
  const sizes = quick ? [120] : [10_000];
  const count = quick ? 1_000 : 10_000;
  const result = createResult({
    title: `Upstream calls during ${count.toLocaleString('en-US')} requests`,
    about: `Pools, pages of 100, pairs with tickers, and the chain, one after another, with up to ${DIFFERENT} pools and pages, at the same height. The gateway polls once in an hour, so that only calls for requests count.`,
    unit: 'calls',
    better: 'less',
    sizeUnit: 'pools',
    sizes,
    goals: [{ target: GATEWAY, bound: 'at most', value: 0, isForAllSamples: true }],
  });
  for (const pools of sizes) {
    await using testbed = await startTestbed(checkouts, { pools }, SETTINGS);
    await using load = await startLoadGenerator();
    const requests = Array.from({ length: Math.min(DIFFERENT, pools) }, (_, index) => [
      onePool(testbed.snapshot, index),
      pageAfter(testbed.snapshot, index),
      { query: '{ pairs { tickerId } tickers { tickerId lastPrice } }' },
      { query: '{ beaconHeight chainInfo { bestBlocks { height } } }' },
    ]).flatMap((some) => some.map(toPost));
    for (const [name, gateway] of testbed.gateways) {
      await load.queries(gateway, { requests, seconds: 60, maxRequests: 100 });
      const before = await testbed.sandbox.call<number>('calls');
      const { responses } = await load.queries(gateway, { requests, seconds: 240, maxRequests: count });
      if (responses !== count) throw new Error(`${responses} responses to ${count} requests`);
      result.add(name, pools, (await testbed.sandbox.call<number>('calls')) - before);
    }
    log(`${result.title}, ${pools} pools: done`);
  }
  return [result];
}
