import { request } from '../graphql-client.ts';
import type { Memory } from '../process-control.ts';
import type { BenchProcess } from '../processes.ts';
import { createResult, type OpenResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { GATEWAY } from '../targets.ts';
import { startTestbed } from '../testbed.ts';

/** The number of past heights that the gateway caches. */
const CACHED = 64;

/** Newer heights are not final, and are cached only for a while. */
const FINAL_BELOW_TIP = 3;

const PAST_HEIGHTS = `resident, with ${CACHED} past heights`;
const AFTER_COLLECTION = 'after a collection';

const AT = 'query At($at: BeaconHeight!) { poolPairs(first: 1, at: $at) { totalCount } }';

/** The memory for many past heights of a large exchange. */
export const pastHeights: Row = { name: 'past-heights', comparesCheckouts: true, run };

async function run({ quick, isComparison, checkouts, log }: RowContext): Promise<readonly Result[]> {
  const sizes = quick ? [200] : [10_000];
  const starts = isComparison && !quick ? 2 : 1;
  const result = createResult({
    title: `Memory with ${CACHED} past heights`,
    about: `With the newest height only, and after ${CACHED} past heights were requested once each: resident memory at that moment, and after a garbage collection.`,
    unit: 'MB',
    better: 'less',
    sizeUnit: 'pools',
    sizes,
    goals: [{ target: PAST_HEIGHTS, bound: 'at most', value: 250 }],
  });
  for (const pools of sizes) {
    for (let start = 0; start < starts; start++) {
      await using testbed = await startTestbed(checkouts, { pools, history: CACHED + 10 });
      for (const [name, gateway] of testbed.gateways) {
        const suffix = name.slice(GATEWAY.length);
        await testbed.alone(gateway, async () => {
          await addMemory(result, gateway, { label: 'with the newest height only', suffix, pools });
          const newest = testbed.snapshot.beaconHeight - FINAL_BELOW_TIP;
          for (let at = newest; at > newest - CACHED; at--) {
            await request(gateway.url, { query: AT, variables: { at } });
          }
          await addMemory(result, gateway, { label: `with ${CACHED} past heights`, suffix, pools });
        });
      }
    }
    log(`${result.title}, ${pools} pools: done`);
  }
  return [result];
}

type Line = { readonly label: string; readonly suffix: string; readonly pools: number };

async function addMemory(result: OpenResult, gateway: BenchProcess, { label, suffix, pools }: Line): Promise<void> {
  const add = (line: string, bytes: number) => result.add(`${line}${suffix}`, pools, bytes / 1e6);
  add(`resident, ${label}`, await gateway.call<number>('resident bytes'));
  const { heapUsed, rss } = await gateway.call<Memory>('memory');
  add(`resident, ${label}, ${AFTER_COLLECTION}`, rss);
  add(`heap in use, ${label}, ${AFTER_COLLECTION}`, heapUsed);
}
