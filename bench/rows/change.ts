import { setTimeout as sleep } from 'node:timers/promises';
import { type Operation, request } from '../graphql-client.ts';
import { startLoadGenerator } from '../load-generator.ts';
import { pageAfter, toPost } from '../operations.ts';
import type { BenchProcess } from '../processes.ts';
import { runUnique } from '../query-rounds.ts';
import { createResult, type OpenResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { GATEWAY } from '../targets.ts';
import { startTestbed } from '../testbed.ts';

/** How the same page is requested: its pools alone, and with the change of their prices. */
const KINDS = [
  { name: GATEWAY, fields: '' },
  { name: `${GATEWAY}, with change { percent }`, fields: ' change(hours: 1) { percent }' },
] as const;

/** How much longer the page with changes may take. */
const GOAL = 1.2;

/** The history below the first height: a little more than an hour, of which the gateway reads each 12th height. */
const HISTORY = { blocks: 120, hours: '2' };

/** Pages of 100 pools that nobody has requested at this height, with and without the change of each price. */
export const change: Row = { name: 'change', comparesCheckouts: false, run };

async function run({ quick, checkouts, log }: RowContext): Promise<readonly Result[]> {
  const sizes = quick ? [160] : [10_000];
  const [starts, rounds] = quick ? [1, 2] : [2, 3];
  const result = createResult({
    title: 'A page of 100 with the change of each price: CPU time',
    about:
      'Each request is for the page after another cursor, and is sent once for each height. The changes are those of the last hour.',
    unit: 'µs',
    better: 'less',
    sizeUnit: 'pools',
    sizes,
    samplesPerStart: rounds,
    goals: [{ target: KINDS[1].name, baseline: { target: GATEWAY, by: 'ratio' }, bound: 'at most', value: GOAL }],
  });
  for (const pools of sizes) {
    for (let start = 0; start < starts; start++) {
      await using testbed = await startTestbed(
        checkouts,
        { pools, history: HISTORY.blocks },
        { HEAD_POLL_MS: '100', HISTORY_BACKFILL_HOURS: HISTORY.hours, HISTORY_DATABASE: 'memory' },
      );
      await using load = await startLoadGenerator();
      const pages = testbed.snapshot.pools.slice(0, -100).map((_, index) => pageAfter(testbed.snapshot, index));
      await untilBackfilled(testbed.gateway);
      // The first round warms up.
      for (let round = -1; round < rounds; round++) {
        for (const { name, fields } of KINDS) {
          const requests = pages.map((page) => toPost(withFields(page, fields)));
          const options = { server: testbed.gateway, transport: 'http' as const, testbed, load, requests, seconds: 2 };
          const { cpuMicros } = await runUnique(options);
          if (round >= 0) result.add(name, pools, cpuMicros);
        }
      }
      log(`${result.title}, ${pools} pools: start ${start + 1} of ${starts} done`);
    }
  }
  return [result] satisfies readonly OpenResult[];
}

function withFields(page: Operation, fields: string): Operation {
  return { ...page, query: page.query.replace('{ ...Pool }', `{ ...Pool${fields} }`) };
}

/** Waits until the gateway has read the hours below its first height. */
async function untilBackfilled({ url }: BenchProcess): Promise<void> {
  type Answer = { readonly history: { readonly heights: number; readonly isBackfilling: boolean } | null };
  const timeout = AbortSignal.timeout(120_000);
  for (;;) {
    const { history } = await request<Answer>(url, { query: '{ history { heights isBackfilling } }' });
    if (history !== null && history.heights >= HISTORY.blocks / 12 - 2 && !history.isBackfilling) return;
    await sleep(200, undefined, { signal: timeout });
  }
}
