import { expect, test } from 'vitest';
import { HistoryUnavailableError } from '../../src/errors.ts';
import type { RecordedVolumes, TradeName, TradesQuery } from '../../src/history/trade-store.ts';
import { Dependencies } from '../../src/loaders/dependencies.ts';
import { createHistoryView } from '../../src/loaders/history-view.ts';
import { createPoolTradeLoader } from '../../src/loaders/pool-trades.ts';
import { createBulkhead } from '../../src/turns/bulkhead.ts';
import { tokenId } from '../domain/pools.ts';
import { poolOfV3 } from '../domain/v3-pools.ts';
import { SOMEONE } from '../upstream/connect.ts';

const QUEUE = createBulkhead({
  busy: () => new HistoryUnavailableError(),
  maxConcurrent: 1,
  maxQueued: 10,
  maxWaitMs: 10_000,
});

/** The view that a response has of a history without heads in memory. */
function viewOf(history: object, dependencies = new Dependencies()) {
  return createHistoryView({
    sources: { history: { headsInMemory: () => [], ...history }, historyQueue: QUEUE },
    head: { currentFor: () => undefined },
    dependencies,
    options: { maxHistoryHours: 24, requester: SOMEONE },
  } as unknown as Parameters<typeof createHistoryView>[0]);
}

test('a volume is not current if trades were recorded while it was read', async () => {
  let version = 1;
  const reading = Promise.withResolvers<{ value: RecordedVolumes; recorded: ReadonlySet<number> }>();
  const dependencies = new Dependencies();
  const view = viewOf({ tradesVersion: () => version, volumes: () => reading.promise }, dependencies);
  const pool = { ...poolOfV3([tokenId('a'), tokenId('b')], [5n, 5n]), time: 1_000_000 };

  const volume = createPoolTradeLoader(view).volume(pool, { hours: 1 });
  version = 2;
  reading.resolve({
    value: { volumes: new Map(), heights: 0, first: undefined, before: undefined },
    recorded: new Set(),
  });
  expect(await volume).toBeUndefined();
  expect(dependencies.areCurrent(0)).toBe(false);
});

test('trades that a block does not have are read once each', async () => {
  const reads: string[] = [];
  const view = viewOf({
    tradesVersion: () => 1,
    async trade({ transactionId }: TradeName) {
      reads.push(transactionId);
    },
    async trades({ upTo }: TradesQuery) {
      reads.push(`block ${upTo}`);
      return { value: new Map(), recorded: new Set([7]) };
    },
  });
  const loader = createPoolTradeLoader(view);
  const names = Array.from({ length: 100 }, (_, n) => ({ beaconHeight: 7, transactionId: n % 2 ? 'a' : 'b', step: 0 }));
  const found = await Promise.all(names.map((name) => loader.recordedTrade(name, 10)));
  expect(new Set(found)).toEqual(new Set([undefined]));
  expect(reads.toSorted()).toEqual(['a', 'b', 'block 7', 'block 7']);
  const unknown = loader.recordedTrade({ beaconHeight: 6, transactionId: 'a', step: 0 }, 10);
  await expect(unknown).rejects.toThrow('The trades of the block at beacon height 6 are not recorded.');
});
