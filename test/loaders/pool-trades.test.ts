import { expect, test } from 'vitest';
import { HistoryUnavailableError } from '../../src/errors.ts';
import type { RecordedVolumes } from '../../src/history/trade-store.ts';
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

test('a volume is not current if trades were recorded while it was read', async () => {
  let version = 1;
  const reading = Promise.withResolvers<{ value: RecordedVolumes; recorded: ReadonlySet<number> }>();
  const history = {
    tradesVersion: () => version,
    unrecorded: () => [],
    volumes: () => reading.promise,
  };
  const dependencies = new Dependencies();
  const view = createHistoryView({
    sources: { history, historyQueue: QUEUE },
    head: { currentFor: () => undefined },
    dependencies,
    options: { maxHistoryHours: 24, requester: SOMEONE },
  } as unknown as Parameters<typeof createHistoryView>[0]);
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
