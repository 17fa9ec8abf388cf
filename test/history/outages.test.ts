import { expect, test } from 'vitest';
import { NEVER_MS } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { createMemoryStore } from './memory-store.ts';
import { allRecorded, recordForTest } from './recorded.ts';

const TIP = 1_640_000;
const HALF_AN_HOUR = { historyBackfillHours: 0.5 };

test('a node that is down and comes back leaves no gap', async () => {
  const { sandbox, store, ask, advanceEach, untilHeight } = await recordForTest({ config: HALF_AN_HOUR });
  await advanceEach(3);
  await sandbox.node.stop();
  sandbox.advance(20);
  expect((await ask('{ beaconHeight }')).data).toEqual({ beaconHeight: TIP + 3 });
  await sandbox.node.start();
  await untilHeight(TIP + 23);
  await advanceEach(4);
  await store.until(() => rangeIsRecorded(store.blocks, TIP - 10, TIP + 24));
  const { recorded, expected } = allRecorded(sandbox, store);
  expect(recorded).toEqual(expected);
});

test('a node that is syncing: its heights are recorded, and no missing one is read before it is well', async () => {
  const { sandbox, store, untilHeight, untilRecorded } = await recordForTest({
    config: { ...HALF_AN_HOUR, maxBlockAgeMs: 60_000 },
    before: ({ node }) => void node.faults.set({ kind: 'syncing', blocks: 30, everyMs: 40 }),
  });
  await untilHeight(TIP - 10);
  expect([...store.blocks.keys()].filter((height) => height < TIP - 32)).toEqual([]);
  await untilHeight(TIP);
  sandbox.advance(4);
  await untilRecorded(TIP);
  await store.until(() => rangeIsRecorded(store.blocks, TIP - 40, TIP));
  const { recorded, expected } = allRecorded(sandbox, store);
  expect(recorded).toEqual(expected);
});

test('a node that has lost its database takes nothing away, also when the gateway starts again', async () => {
  const first = await recordForTest({ config: HALF_AN_HOUR });
  await first.advanceEach(5);
  await first.store.until(() => rangeIsRecorded(first.store.blocks, TIP - 40, TIP + 2));
  // It reads some more heights, and one that is too old.
  await until(() => !first.app.service.sources.history.isBackfilling());
  const before = first.store.order.length;
  first.sandbox.node.faults.set({ kind: 'lag', blocks: 150 });
  await expect.poll(() => first.lines.filter(({ msg }) => msg.includes('may have lost its database')).length).toBe(1);
  expect(first.store.order.length).toBe(before);
  await first.app.close();

  const { sandbox, store, lines, untilHeight, advanceEach } = await recordForTest({
    store: first.store,
    config: { historyBackfillHours: 0 },
    before: (sandbox) => {
      sandbox.advance(5);
      sandbox.node.faults.set({ kind: 'lag', blocks: 40 });
    },
  });
  await advanceHidden();
  sandbox.node.faults.clear();
  await untilHeight(TIP + 5);
  await advanceEach(5);
  await store.until(() => store.blocks.has(TIP + 7));
  expect(lines.filter(({ msg, level }) => level >= 50 && msg.includes('history'))).toEqual([]);
  expect(lines.filter(({ msg }) => msg.startsWith('heights were deleted'))).toEqual([]);
  const { recorded, expected } = allRecorded(sandbox, store);
  expect(recorded).toEqual(expected);

  /** Blocks that the node does not show yet: it is far below the recorded heights. */
  async function advanceHidden(): Promise<void> {
    for (let made = 0; made < 3; made++) {
      const height = TIP + 5 - 40 + made;
      await untilHeight(height);
      sandbox.node.faults.clear();
      sandbox.node.faults.set({ kind: 'lag', blocks: 39 - made });
    }
  }
});

test('clients come first: while they read earlier heights, no missing one is read', async () => {
  const store = createMemoryStore();
  const { sandbox, ask } = await recordForTest({
    store,
    // A read that waits in the queue for half of the timeout is refused.
    config: { ...HALF_AN_HOUR, upstreamMaxConnections: 4, upstreamTimeoutMs: NEVER_MS },
    before: ({ node }) => void node.faults.set({ kind: 'delay', ms: 150, on: 'getpdestate' }),
  });
  const heights = Array.from({ length: 12 }, (_, n) => TIP - 100 - n);
  const fields = heights.map((at) => `h${at}: poolPairs(at: ${at}, first: 1) { totalCount }`);
  const answer = await ask(`{ ${fields.join(' ')} }`);
  expect(answer.errors).toBeUndefined();
  sandbox.node.faults.clear();
  await store.until(() => rangeIsRecorded(store.blocks, TIP - 46, TIP - 3));
  // The states of clients stay in their cache.
  sandbox.node.resetCalls();
  await ask(`{ ${fields.map((field) => field.replace('totalCount', 'nodes { id }')).join(' ')} }`);
  expect(sandbox.node.calls('getpdestate')).toBe(0);
});

function rangeIsRecorded(blocks: ReadonlyMap<number, unknown>, from: number, to: number): boolean {
  for (let height = from; height <= to; height++) if (!blocks.has(height)) return false;
  return true;
}
