import { expect, onTestFinished, test, vi } from 'vitest';
import { createHistory } from '../../src/history/history.ts';
import type { HistoryStore } from '../../src/history/store.ts';
import { createStoreModel } from '../history/store-model.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

const POOL = `poolPair(token1Id: "${PRV}", token2Id: "${BTC}")`;

/** An operation with that many reads of the history, each of which is different. */
const candles = (count: number) => {
  const from = (n: number) => new Date(n * 1_000).toISOString();
  const fields = Array.from(
    { length: count },
    (_, n) => `c${n}: candles(interval: ONE_HOUR, last: 1, from: "${from(n)}")`,
  );
  return `{ ${POOL} { ${fields.map((field) => `${field} { heights }`).join(' ')} } }`;
};

/** A gateway whose store reads candles only when a test says so. */
async function slowHistory() {
  const model = createStoreModel();
  const begun: (() => void)[] = [];
  let ended = 0;
  const store: HistoryStore = {
    ...model,
    async candles(query) {
      await new Promise<void>((resolve) => begun.push(resolve));
      ended += 1;
      return model.candles(query);
    },
  };
  const gateway = await serveGatewayForTest({
    store,
    config: { trustedProxies: ['loopback'], historyBackfillHours: 0 },
  });
  await gateway.untilHeight(1);
  const queue = vi.spyOn(gateway.app.service.sources.historyQueue, 'queue');

  async function ask(address: string, query: string) {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
    const response = await fetch(gateway.url, { method: 'POST', headers, body: JSON.stringify({ query }) });
    const { data, errors = [] } = await response.json();
    const codes = new Set(errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code));
    return { values: Object.values(data.poolPair).filter((value) => value !== null), codes };
  }

  /** Lets one read after another end until a promise resolves. Returns how many. */
  async function endUntil(promise: Promise<unknown>): Promise<number> {
    const before = ended;
    let isDone = false;
    const done = promise.then(() => {
      isDone = true;
    });
    while (!isDone) {
      begun.shift()?.();
      await Promise.race([done, new Promise(setImmediate)]);
    }
    return ended - before;
  }

  /** Waits until so many reads of clients have come. */
  const untilCame = (count: number) => expect.poll(() => queue.mock.calls.length).toBe(count);

  return { gateway, model, begun, ask, endUntil, untilCame };
}

test('while one client waits for 100 reads, the store has two of them, records heights, and reads for another client in its turn', async () => {
  const { gateway, model, begun, ask, endUntil, untilCame } = await slowHistory();
  const many = ask('198.51.100.7', candles(100));
  await untilCame(100);
  for (let block = 0; block < 5; block++) await gateway.advance();
  await expect.poll(() => model.heights().length).toBeGreaterThan(0);
  expect(begun).toHaveLength(2);

  const single = ask('203.0.113.9', candles(1));
  await untilCame(101);
  expect(await endUntil(single)).toBeLessThan(20);
  const { values, codes } = await single;
  expect([values.length, codes]).toEqual([1, new Set()]);
  await endUntil(many);
});

test('when the reads of one client fill the queue, its newest ones are HISTORY_UNAVAILABLE, and none of another client', async () => {
  const { ask, endUntil, untilCame } = await slowHistory();
  const many = Promise.all(Array.from({ length: 3 }, () => ask('198.51.100.7', candles(550))));
  await untilCame(1_650);
  const single = ask('203.0.113.9', candles(1));
  await untilCame(1_651);
  await endUntil(single);
  await endUntil(many);
  expect((await single).codes).toEqual(new Set());
  const answers = await many;
  expect(answers.flatMap(({ codes }) => [...codes])).toContain('HISTORY_UNAVAILABLE');
  // Two at once, and 1,000 in the queue less that of the other client.
  expect(answers.flatMap(({ values }) => values)).toHaveLength(1_001);
});

/** A history of a store, whose reads have 5 ms. While two of them are overdue, no other one begins. */
function impatientHistory(store: HistoryStore, ready: () => Promise<void>) {
  const none = () => 0;
  const recorder = {
    ...{ ready, state: () => 'recording', waiting: () => new Set(), errors: none },
    recorded: { coverage() {}, tradeCoverage() {} },
  };
  const backfills = { backfill: { reads: none }, tradeBackfill: { reads: none, readBytes: none } };
  const options = { store, recorder, ...backfills, timeoutMs: 5, maxOverdue: 2 };
  return createHistory(options as unknown as Parameters<typeof createHistory>[0]);
}

test('a read whose time is over before the database is ready is not made, and counts as an error', async () => {
  const ready = Promise.withResolvers<void>();
  const model = createStoreModel();
  const history = impatientHistory(model, () => ready.promise);
  await expect(history.firstBlock('V1')).rejects.toMatchObject({ code: 'HISTORY_UNAVAILABLE' });
  ready.resolve();
  await new Promise(setImmediate);
  expect([model.reads.firstBlock, history.status().databaseErrors]).toEqual([0, 1]);
});

test('while two reads are overdue, no other one begins or waits, and once one has ended, the next one begins', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const model = createStoreModel();
  const begun: PromiseWithResolvers<undefined>[] = [];
  const history = impatientHistory(
    {
      ...model,
      firstBlock() {
        const response = Promise.withResolvers<undefined>();
        begun.push(response);
        return response.promise;
      },
    },
    async () => {},
  );
  const fails = () => expect(history.firstBlock('V1')).rejects.toMatchObject({ code: 'HISTORY_UNAVAILABLE' });
  const late = [fails(), fails()];
  await vi.advanceTimersByTimeAsync(5);
  await Promise.all(late);
  // The time stands still: they fail at once.
  for (let read = 0; read < 20; read++) await fails();
  expect([begun.length, vi.getTimerCount()]).toEqual([2, 0]);
  begun[0]?.reject(new Error('the thread has failed'));
  await new Promise(setImmediate);
  const next = history.firstBlock('V1');
  await new Promise(setImmediate);
  begun[2]?.resolve(undefined);
  expect(await next).toBeUndefined();
  expect(begun.length).toBe(3);
});
