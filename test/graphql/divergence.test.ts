import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NEVER_MS, startGateway, startGatewayForTest, type TestGateway } from '../support/gateway.ts';
import { sample } from '../support/metrics.ts';

const DIVERGENCE = 'poolPrice lastPrice bookMidPrice lastPercent bookPercent maxPercent';

type Divergence = Record<
  'poolPrice' | 'lastPrice' | 'bookMidPrice' | 'lastPercent' | 'bookPercent' | 'maxPercent',
  number | null
>;
type Row = { readonly poolId: string; readonly divergence: Divergence };

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

describe('Pair.divergence', () => {
  test('has the three prices of the pair, and their distances in percent', async () => {
    const { data, errors } = await gateway.ask(
      `{ pairs { poolPrice poolPair { id } ticker { lastPrice } orderBook { midPrice } divergence { ${DIVERGENCE} } } }`,
    );
    expect(errors).toBeUndefined();
    for (const { poolPrice, poolPair, ticker, orderBook, divergence } of data.pairs) {
      if (poolPair === null) {
        expect(divergence).toBeNull();
        continue;
      }
      const { lastPrice } = ticker;
      const { midPrice } = orderBook;
      const percent = (price: number | null) => (price && poolPrice && 100 * (price / poolPrice - 1)) ?? null;
      const known = [percent(lastPrice), percent(midPrice)].filter((each) => each !== null);
      expect(divergence).toEqual({
        poolPrice,
        lastPrice,
        bookMidPrice: midPrice,
        lastPercent: percent(lastPrice),
        bookPercent: percent(midPrice),
        maxPercent: known.length === 0 ? null : Math.max(...known.map(Math.abs)),
      });
    }
    expect(data.pairs.filter((row: Row) => row.divergence === null).length).toBeGreaterThan(0);
    expect(data.pairs.filter((row: Row) => row.divergence?.bookPercent != null).length).toBeGreaterThan(20);
  });

  test('reads the order book only for the fields that need it', async () => {
    const { ask, sandbox } = await startGatewayForTest();
    await ask('{ pair(tickerId: "pBTC_PRV") { divergence { poolPrice lastPrice lastPercent } } }');
    expect(sandbox.marketData.calls('orderbook')).toBe(0);
    await ask('{ pair(tickerId: "pBTC_PRV") { divergence { bookMidPrice bookPercent maxPercent } } }');
    expect(sandbox.marketData.calls('orderbook')).toBe(1);
  });

  const QUERY = `{ pair(tickerId: "pBTC_PRV") { divergence { ${DIVERGENCE} } } }`;
  const failedFields = ({ errors }: Awaited<ReturnType<TestGateway['ask']>>) =>
    errors?.map(({ path, extensions }) => [path?.at(-1), extensions.code]).toSorted();

  test.each([
    ['orderbook', ['bookMidPrice', 'bookPercent']],
    ['tickers', ['lastPercent', 'lastPrice']],
  ])('has the other prices while %s cannot be read', async (on, failing) => {
    const { ask } = await startGatewayForTest({
      before: ({ marketData }) => void marketData.faults.set({ kind: 'garbage', on: on as 'tickers' }),
    });
    const answer = await ask(QUERY);
    const failed = [...failing, 'maxPercent'].toSorted();
    expect(failedFields(answer)).toEqual(failed.map((field) => [field, 'UPSTREAM_BAD_SHAPE']));
    for (const [field, value] of Object.entries(answer.data.pair.divergence)) {
      expect([field, value]).toEqual([field, failed.includes(field) ? null : expect.any(Number)]);
    }
  });

  test('fails while the exchange state cannot be read, and the pair is complete', async () => {
    const { ask } = await startGatewayForTest({ before: ({ node }) => node.stop() });
    const answer = await ask(
      `{ pair(tickerId: "pBTC_PRV") { tickerId divergence { ${DIVERGENCE} } ticker { lastPrice } } }`,
    );
    expect(failedFields(answer)).toEqual([['divergence', 'UPSTREAM_UNREACHABLE']]);
    expect(answer.data.pair).toEqual({
      tickerId: 'pBTC_PRV',
      divergence: null,
      ticker: { lastPrice: expect.any(Number) },
    });
  });
});

/** The pairs by the distance of the last trade from the pool, as a client would compute it from other fields. */
async function expectedPairs({ ask }: Pick<TestGateway, 'ask'>, minPercent: number): Promise<string[]> {
  const { data } = await ask('{ pairs { poolId poolPrice ticker { lastPrice } } }');
  type Priced = { poolId: string; poolPrice: number | null; ticker: { lastPrice: number | null } | null };
  return (data.pairs as Priced[])
    .flatMap(({ poolId, poolPrice, ticker }) => {
      const lastPrice = ticker?.lastPrice;
      return poolPrice === null || lastPrice == null
        ? []
        : [{ poolId, by: Math.abs(100 * (lastPrice / poolPrice - 1)) }];
    })
    .filter(({ by }) => by >= minPercent)
    .sort((a, b) => b.by - a.by)
    .map(({ poolId }) => poolId);
}

const idsOf = (rows: readonly Row[]) => rows.map(({ poolId }) => poolId);

describe('Query.divergentPairs', () => {
  test('has the pairs that differ enough, the largest difference first, and reads no order book', async () => {
    const { ask, sandbox } = await startGatewayForTest();
    const fields = `poolId divergence { ${DIVERGENCE} }`;
    const { data, errors } = await ask(`{
      divergentPairs { ${fields} }
      few: divergentPairs(first: 2) { ${fields} }
      none: divergentPairs(first: 0) { ${fields} }
      far: divergentPairs(minPercent: 5) { ${fields} }
      all: divergentPairs(minPercent: 0, first: 500) { ${fields} }
    }`);
    expect(errors).toBeUndefined();
    const expected = await expectedPairs({ ask }, 1);
    expect(expected.length).toBeGreaterThan(3);
    expect(idsOf(data.divergentPairs)).toEqual(expected.slice(0, 50));
    expect([idsOf(data.few), data.none]).toEqual([expected.slice(0, 2), []]);
    expect(idsOf(data.far)).toEqual(await expectedPairs({ ask }, 5));
    expect(idsOf(data.all)).toEqual(await expectedPairs({ ask }, 0));
    const { maxPercent: least } = (data.few as Row[])[1]?.divergence ?? {};
    expect(idsOf((await ask(`{ divergentPairs(minPercent: ${least}) { poolId } }`)).data.divergentPairs)).toEqual(
      idsOf(data.few),
    );
    for (const { divergence } of data.all as Row[]) {
      const { lastPercent, bookMidPrice, bookPercent, maxPercent } = divergence;
      expect([bookMidPrice, bookPercent, maxPercent]).toEqual([null, null, Math.abs(lastPercent ?? Number.NaN)]);
    }
    expect(sandbox.marketData.calls('orderbook')).toBe(0);
  });

  test('compares the order books that are followed, for as long as they are', async () => {
    const { app, ask, subscribe, sandbox, clock } = await startGatewayForTest({ config: { marketPollMs: NEVER_MS } });
    const LIST = `{ divergentPairs(minPercent: 0, first: 500) { tickerId divergence { ${DIVERGENCE} } } }`;
    const readBooks = async () => {
      const { data, errors } = await ask(LIST);
      expect(errors).toBeUndefined();
      const rows: { tickerId: string; divergence: Divergence }[] = data.divergentPairs;
      expect(rows.map(({ divergence }) => divergence.maxPercent)).toEqual(
        rows.map(({ divergence }) => divergence.maxPercent).toSorted((a, b) => (b ?? 0) - (a ?? 0)),
      );
      return rows.filter(({ divergence }) => divergence.bookMidPrice !== null);
    };
    expect(await readBooks()).toEqual([]);

    // Its bids and asks cross far from the price of the pool, and it has no trade beyond a percent.
    const updates = subscribe('subscription { orderBook(tickerId: "pPOWR_PRV", depth: 2) { midPrice } }');
    const midPrice = (await updates.next()).value?.data.orderBook.midPrice;
    const [row, ...others] = await readBooks();
    expect([row?.tickerId, others]).toEqual(['pPOWR_PRV', []]);
    const { poolPrice, lastPercent, bookPercent } = row?.divergence ?? {};
    expect(row?.divergence).toMatchObject({
      bookMidPrice: midPrice,
      bookPercent: 100 * (midPrice / (poolPrice ?? 0) - 1),
      maxPercent: Math.max(Math.abs(lastPercent ?? 0), Math.abs(bookPercent ?? 0)),
    });
    expect(sandbox.marketData.calls('orderbook')).toBe(1);

    // The cache notices when books change, whatever the clock does.
    const metrics = new URL('/metrics', await app.listen(0, '127.0.0.1'));
    const cached = async () =>
      sample(await (await fetch(metrics)).text(), 'pdex_query_responses_total{from="cached"}') ?? 0;
    await readBooks();
    const before = await cached();
    for (const step of [3_600_000, -7_200_000]) {
      clock.now += step;
      await readBooks();
    }
    expect(await cached()).toBe(before + 2);

    await updates.return(undefined);
    await expect.poll(readBooks).toEqual([]);
  });

  test.each([
    ['minPercent: -0.1', 'minPercent is -0.1. It must be 0 or greater.'],
    ['minPercent: 1e400', 'minPercent is Infinity. It must be finite.'],
    ['first: -1', 'first is -1. It must be 0 or greater.'],
    ['first: 501', 'first is 501. The maximum is 500.'],
  ])('with %s fails, and only that field', async (args, message) => {
    const { data, errors } = await gateway.ask(`{ beaconHeight divergentPairs(${args}) { id } }`);
    expect(data).toEqual({ beaconHeight: expect.any(Number), divergentPairs: null });
    expect(errors?.map((error) => [error.message, error.extensions.code])).toEqual([[message, 'BAD_USER_INPUT']]);
    const updates = gateway.subscribe(`subscription { divergentPairs(${args}) { id } }`);
    expect((await updates.next()).value?.errors?.map((error) => error.message)).toEqual([message]);
  });

  test.each(['pairs', 'tickers'] as const)('is null with an error while %s cannot be read', async (on) => {
    const { ask } = await startGatewayForTest({
      before: ({ marketData }) => void marketData.faults.set({ kind: 'garbage', on }),
    });
    const { data, errors } = await ask('{ divergentPairs { id } }');
    expect([data, errors?.map(({ extensions }) => extensions.code)]).toEqual([
      { divergentPairs: null },
      ['UPSTREAM_BAD_SHAPE'],
    ]);
  });

  test('costs the pairs, and no order book for each of them', async () => {
    const url = await gateway.app.listen(0, '127.0.0.1');
    const costOf = async (query: string) => {
      const body = JSON.stringify({ query });
      const headers = { 'content-type': 'application/json', 'x-pdex-cost': '1' };
      const answer = await (await fetch(url, { method: 'POST', headers, body })).json();
      return answer.extensions.cost.points;
    };
    await costOf('{ pairs { id } beaconHeight }');
    expect(await costOf('{ divergentPairs(first: 3) { divergence { maxPercent } } }')).toBeLessThan(110);
    expect(await costOf('{ pair(tickerId: "pBTC_PRV") { divergence { maxPercent } } }')).toBeGreaterThan(50);
    expect(await costOf('{ pairs { divergence { maxPercent } } }')).toBeGreaterThan(2_500);
  });
});

describe('Subscription.divergentPairs', () => {
  const LIST = `divergentPairs(minPercent: 0.5) { poolId divergence { ${DIVERGENCE} } }`;

  test('sends the list at once, then each time that it changes, to all subscribers', async () => {
    const { ask, subscribe, sandbox, advance } = await startGatewayForTest();
    const listNow = async () => (await ask(`{ ${LIST} }`)).data.divergentPairs;
    const subscribers = [1, 2].map(() => ({
      updates: subscribe(`subscription { ${LIST} }`),
      last: undefined as unknown,
    }));
    let changes = 0;
    for (let block = 0; block < 6; block++) {
      for (const subscriber of subscribers) {
        // The pools and the tickers of a block are read one after the other, so that there can be two updates, or none.
        while (!isDeepStrictEqual(subscriber.last, await listNow())) {
          const { value } = await subscriber.updates.next();
          expect(value?.errors).toBeUndefined();
          expect(value?.data.divergentPairs).not.toEqual(subscriber.last);
          subscriber.last = value?.data.divergentPairs;
          changes += 1;
        }
      }
      await advance(3);
    }
    expect(changes).toBeGreaterThan(4);
    expect(sandbox.marketData.calls('orderbook')).toBe(0);
  });

  test.each([
    ['tickers at the same height', { headPollMs: 60_000 }, { lastPrice: false, poolPrice: true }],
    ['a height with the same tickers', { marketPollMs: 60_000 }, { lastPrice: true, poolPrice: false }],
  ])('sends the list at %s', async (_, config, areSame) => {
    const { subscribe, sandbox } = await startGatewayForTest({ config });
    const prices = async (updates: ReturnType<typeof subscribe>) => {
      const rows: Row[] = (await updates.next()).value?.data.divergentPairs;
      const sorted = rows.toSorted((a, b) => (a.poolId < b.poolId ? -1 : 1));
      return {
        lastPrice: sorted.map(({ divergence }) => divergence.lastPrice),
        poolPrice: sorted.map(({ divergence }) => divergence.poolPrice),
      };
    };
    const updates = subscribe(
      'subscription { divergentPairs(minPercent: 0, first: 500) { poolId divergence { lastPrice poolPrice } } }',
    );
    const before = await prices(updates);
    sandbox.advance(20);
    const after = await prices(updates);
    for (const name of ['lastPrice', 'poolPrice'] as const)
      expect([name, isDeepStrictEqual(after[name], before[name])]).toEqual([name, areSame[name]]);
  });

  test('sends nothing while the selected fields stay the same', async () => {
    const { subscribe, advance } = await startGatewayForTest();
    const same = subscribe('subscription { divergentPairs(first: 1) { __typename } }');
    const other = subscribe('subscription { divergentPairs(first: 1) { poolPair { beaconHeight } } }');
    expect((await same.next()).value?.data).toEqual({ divergentPairs: [{ __typename: 'Pair' }] });
    await other.next();
    const next = same.next();
    next.catch(() => {});
    for (let block = 0; block < 3; block++) {
      await advance();
      await other.next();
    }
    expect(await Promise.race([next, Promise.resolve('nothing')])).toBe('nothing');
  });

  test('shows each pair as it is at the height of the list', async () => {
    const { subscribe, advance, sandbox } = await startGatewayForTest();
    const updates = subscribe(
      'subscription { divergentPairs(minPercent: 0, first: 500) { poolPrice poolPair { beaconHeight } divergence { poolPrice } } }',
    );
    let height = 0;
    for (let block = 0; block < 3; block++) {
      while (height < sandbox.chain.tip.height) {
        const rows = (await updates.next()).value?.data.divergentPairs;
        height = rows[0].poolPair.beaconHeight;
        for (const { poolPrice, poolPair, divergence } of rows) {
          expect([poolPair.beaconHeight, divergence.poolPrice]).toEqual([height, poolPrice]);
        }
      }
      await advance();
    }
  });

  test('starts with the error while the data cannot be read, and sends the list when it can', async () => {
    const { subscribe, sandbox } = await startGatewayForTest({
      before: ({ marketData }) => void marketData.faults.set({ kind: 'garbage', on: 'tickers' }),
    });
    const updates = subscribe('subscription { divergentPairs { id } }');
    const { value } = await updates.next();
    expect([value?.data, value?.errors?.map(({ extensions }) => extensions.code)]).toEqual([
      null,
      ['UPSTREAM_BAD_SHAPE'],
    ]);
    sandbox.marketData.faults.clear();
    expect((await updates.next()).value?.data.divergentPairs.length).toBeGreaterThan(0);
  });
});
