import { setTimeout as sleep } from 'node:timers/promises';
import { beginFinding, type Finding } from '../finding.ts';
import { startLoad } from '../load.ts';
import { onePool, pageBehind, toPost } from '../operations.ts';
import type { Row, Stage } from '../row.ts';
import { startWorld } from '../servers.ts';

/** What clients cost the upstreams while there is nothing new. */
export const upstreamCalls: Row = { name: 'upstream-calls', run };

async function run(stage: Stage): Promise<readonly Finding[]> {
  const sizes = stage.quick ? [120] : [100, 1_000, 10_000];
  const count = stage.quick ? 1_000 : 10_000;
  const asked = count.toLocaleString('en-US');
  const [busy, idle] = [`while ${asked} requests are answered`, 'in the same time without a request'];
  const finding = beginFinding({
    title: `Calls to upstreams during ${asked} requests`,
    about:
      'One pool, a page of 100, pairs with tickers, and the chain, in turn, at an unchanged height. What is left is the looking for a new height and for new market data, which goes by time.',
    unit: 'calls',
    better: 'less',
    sizeUnit: 'pools',
    sizes,
    reference: undefined,
  });
  for (const pools of sizes) {
    await using world = await startWorld({ pools });
    await using load = await startLoad();
    const requests = [
      onePool(world.snapshot, 0),
      pageBehind(world.snapshot, -1),
      { query: '{ pairs { tickerId } tickers { tickerId lastPrice } }' },
      { query: '{ beaconHeight chainInfo { bestBlocks { height } } }' },
    ].map(toPost);
    await load.http(world.gateway, { requests, seconds: 1 });

    const calls = async (work: () => Promise<unknown>) => {
      const before = await world.sandbox.ask<number>('calls');
      await work();
      return (await world.sandbox.ask<number>('calls')) - before;
    };
    const start = performance.now();
    const whileBusy = await calls(async () => {
      const { answers } = await load.http(world.gateway, { requests, seconds: 240, atMost: count });
      if (answers !== count) throw new Error(`${answers} answers to ${count} requests`);
    });
    const ms = performance.now() - start;
    finding.add(busy, pools, whileBusy);
    finding.add(idle, pools, await calls(() => sleep(ms)));
    finding.note(`${pools.toLocaleString('en-US')} pools: that took ${(ms / 1_000).toFixed(1)} s.`);
  }
  return [finding];
}
