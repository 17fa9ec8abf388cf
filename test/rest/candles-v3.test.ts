import { expect, test } from 'vitest';
import { createHistoryStore } from '../../src/history/store-client.ts';
import { openRest } from '../support/rest.ts';

const PRICES = ['open', 'high', 'low', 'close'];
const FIELDS = 'openTime open high low close inverseOpen inverseHigh inverseLow inverseClose isComplete';

/** A pair with the candles of its pool, as GraphQL shows them. */
type PairRow = {
  readonly poolId: string;
  readonly baseId: string;
  readonly poolPair: {
    readonly id: string;
    readonly token1: { readonly tokenId: string };
    readonly candles: readonly Readonly<Record<string, number | string | boolean | null>>[];
  } | null;
};

test('the REST API has the candles of the pool of each pair, where V3 trades', async () => {
  const store = createHistoryStore({ database: { kind: 'memory' }, rawDays: 7 });
  const rest = await openRest({ store, sandbox: { exchange: 'v3' }, config: { historyBackfillHours: 0 } });
  for (let block = 0; block < 6; block++) await rest.advance();
  await expect
    .poll(async () => (await rest.ask('{ history { heights } }')).data.history?.heights)
    .toBeGreaterThanOrEqual(4);
  const { data, errors } = await rest.ask(
    `{ pairs { poolId baseId poolPair { id token1 { tokenId } candles(interval: ONE_DAY, last: 1) { ${FIELDS} } } } }`,
  );
  expect(errors).toBeUndefined();
  const pairs: readonly PairRow[] = data.pairs;
  const pools = new Set(pairs.map(({ poolPair }) => poolPair?.id));
  expect(pools.size).toBeGreaterThan(10);

  for (const { poolId, baseId, poolPair } of pairs) {
    if (poolPair === null) continue;
    const isToken1 = baseId === poolPair.token1.tokenId;
    const expected = poolPair.candles
      .map((candle) => {
        const names = isToken1 ? ['inverseOpen', 'inverseHigh', 'inverseLow', 'inverseClose'] : PRICES;
        const prices = names.map((name) => candle[name] ?? null);
        return {
          time: Date.parse(String(candle['openTime'])) / 1_000,
          open: prices[0],
          high: Math.max(...prices.map(Number)),
          low: Math.min(...prices.map(Number)),
          close: prices[3],
          is_complete: candle['isComplete'],
        };
      })
      .filter(({ close }) => close !== null);
    const { pool_id, candles } = await rest.read(`candles?ticker_id=${poolId}&interval=1d&limit=1`);
    expect(pool_id).toBe(poolId);
    expect(candles).toMatchObject(expected);
    expect(candles).toHaveLength(expected.length);
    const bars = await rest.read(`/udf/history?symbol=${poolId}&resolution=1D&to=4102444800&countback=1`);
    expect(bars.c ?? []).toEqual(expected.map(({ close }) => close));
  }
});
