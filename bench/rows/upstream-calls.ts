import { beginFinding, type Finding } from '../finding.ts';
import { startLoad } from '../load.ts';
import { onePool, pageBehind, toPost } from '../operations.ts';
import type { Row, Stage } from '../row.ts';
import { GATEWAY, startWorld } from '../servers.ts';

/** What clients cost the upstreams while there is nothing new. */
export const upstreamCalls: Row = { name: 'upstream-calls', run };

/** Looking for a new height, and reading the market again, go by time and not by requests: here they do not happen. */
const ENV = { HEAD_POLL_MS: '3600000', MARKET_POLL_MS: '3600000' };

/** How many different pools and pages are asked for: not all answers can be those of before. */
const DIFFERENT = 500;

async function run(stage: Stage): Promise<readonly Finding[]> {
  const sizes = stage.quick ? [120] : [100, 1_000, 10_000];
  const count = stage.quick ? 1_000 : 10_000;
  const asked = count.toLocaleString('en-US');
  const finding = beginFinding({
    title: `Calls to upstreams during ${asked} requests`,
    about: `Pools, pages of 100, pairs with tickers, and the chain, in turn, with up to ${DIFFERENT} pools and pages, at an unchanged height. The gateway looks for a new one once in an hour, so that only what requests cause is counted.`,
    unit: 'calls',
    better: 'less',
    sizeUnit: 'pools',
    sizes,
    reference: undefined,
    reaches: [{ subject: GATEWAY, bound: 'at most', value: 0, isForAll: true }],
  });
  for (const pools of sizes) {
    await using world = await startWorld({ pools }, ENV);
    await using load = await startLoad();
    const requests = Array.from({ length: Math.min(DIFFERENT, pools) }, (_, place) => [
      onePool(world.snapshot, place),
      pageBehind(world.snapshot, place),
      { query: '{ pairs { tickerId } tickers { tickerId lastPrice } }' },
      { query: '{ beaconHeight chainInfo { bestBlocks { height } } }' },
    ]).flatMap((some) => some.map(toPost));
    await load.queries(world.gateway, { requests, seconds: 60, atMost: 100 });

    const before = await world.sandbox.ask<number>('calls');
    const { answers } = await load.queries(world.gateway, { requests, seconds: 240, atMost: count });
    if (answers !== count) throw new Error(`${answers} answers to ${count} requests`);
    finding.add(GATEWAY, pools, (await world.sandbox.ask<number>('calls')) - before);
    stage.tell(`${finding.title}, ${pools} pools: done`);
  }
  return [finding];
}
