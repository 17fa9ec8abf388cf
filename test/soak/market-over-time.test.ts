import { expect, test } from 'vitest';
import type { GraphqlResponse } from '../../soak/judge.ts';
import { depthQuery } from '../../soak/queries/depth.ts';
import { historyQuery } from '../../soak/queries/history.ts';
import { createRandom } from '../../src/sandbox/chain/random.ts';
import { createStoreModel } from '../history/store-model.ts';
import { until } from '../support/until.ts';
import { startContext } from './soak-context.ts';

type Row = Record<string, unknown>;

/** A context with an hour of history, of which the newest tip was replaced once. */
async function startWithHistory() {
  const config = { historyBackfillHours: 1, historyBackfillStep: 1 };
  const started = await startContext({ store: createStoreModel(), config });
  const { context, untilHeight, ask } = started;
  await untilHeight(context.shown.chain.tip.height);
  for (let block = 0; block < 6; block++) {
    context.shown.advance();
    await untilHeight(context.shown.chain.tip.height);
    if (block === 1) context.shown.replaceTip();
  }
  await until(async () => {
    const { beaconHeight, history } = (await ask('{ beaconHeight history { heights lastHeight gaps { from } } }')).data;
    return history?.heights > 80 && history.gaps.length === 0 && history.lastHeight === beaconHeight - 3;
  });
  return started;
}

/** A number or the integer in a text, a little larger. */
function more(value: unknown): unknown {
  if (typeof value !== 'number') return String(BigInt(value as string) + 1n);
  return Number.isInteger(value) ? value + 1 : value * 1.000_001;
}

test('the soak test finds nothing in the history of a pool, and each field that is falsified', async () => {
  const { context, mismatchOf } = await startWithHistory();
  const random = createRandom('history');
  for (let n = 0; n < 25; n++) expect(await mismatchOf(historyQuery(context, random))).toBeUndefined();

  const closed = ({ candles }: { candles: Row[] }) =>
    candles.find(({ isComplete, isClosed }) => isComplete && isClosed) ?? {};
  const change = (pool: { change: Row }) => pool.change;
  const prices = ['open', 'high', 'low', 'close'];
  for (const [of, names] of [
    [closed, [...prices, 'tradedToken1', 'tradedToken2', 'heights', 'firstHeight', 'lastHeight']],
    [change, ['from', 'to', 'percent', 'absolute']],
  ] as const) {
    for (const name of names) {
      let found = 0;
      for (let n = 0; n < 12; n++) {
        let isFalse = false;
        const mismatch = await mismatchOf(historyQuery(context, random), ({ data }) => {
          const row = of((data as { poolPair: { candles: Row[]; change: Row } }).poolPair);
          isFalse = row[name] != null;
          if (isFalse) row[name] = more(row[name]);
        });
        expect([name, n, mismatch === undefined]).toEqual([name, n, !isFalse]);
        if (isFalse) found += 1;
      }
      expect([name, found > 1]).toEqual([name, true]);
    }
  }
});

test('the soak test finds candles that are not in their order, or overlap', async () => {
  const { context, mismatchOf } = await startWithHistory();
  const random = createRandom('order of candles');
  const reversed: (string | undefined)[] = [];
  const twice: (string | undefined)[] = [];
  for (let n = 0; n < 6; n++) {
    let count = 0;
    const candlesOf = ({ data }: GraphqlResponse) => (data as { poolPair: { candles: Row[] } }).poolPair.candles;
    const first = await mismatchOf(historyQuery(context, random), (answer) => {
      count = candlesOf(answer).reverse().length;
    });
    if (count > 1) reversed.push(first);
    twice.push(
      await mismatchOf(historyQuery(context, random), (answer) => {
        const candles = candlesOf(answer);
        candles.push(...candles.slice(-1));
      }),
    );
  }
  expect(new Set([...reversed, ...twice])).toEqual(new Set(['the candles overlap']));
  expect(reversed.length).toBeGreaterThan(1);
});

/** The divergence as it follows from the prices of a pair. */
function divergenceOf({ poolPrice, ticker, orderBook }: Row) {
  const { lastPrice } = ticker as { lastPrice: number | null };
  const { midPrice: bookMidPrice } = orderBook as { midPrice: number | null };
  const percent = (price: number | null) => (price && poolPrice ? 100 * (price / Number(poolPrice) - 1) : null);
  const [lastPercent = null, bookPercent = null] = [percent(lastPrice), percent(bookMidPrice)];
  const percents = [lastPercent, bookPercent].filter((each) => each !== null).map(Math.abs);
  const maxPercent = percents.length === 0 ? null : Math.max(...percents);
  return { poolPrice, lastPrice, bookMidPrice, lastPercent, bookPercent, maxPercent };
}

test('the soak test finds nothing in the depth of a pair, and each field that is falsified', async () => {
  const { context, mismatchOf, untilHeight } = await startContext();
  await untilHeight(context.shown.chain.tip.height);
  const random = createRandom('depth');
  for (let n = 0; n < 10; n++) expect(await mismatchOf(depthQuery(context, random))).toBeUndefined();

  for (const path of [
    ['poolPrice'],
    ['ticker', 'lastPrice'],
    ['divergence', 'poolPrice'],
    ['divergence', 'bookPercent'],
    ['divergence', 'maxPercent'],
    ['depthLadder', 'midPrice'],
    ['depthLadder', 'bids', 0, 'cumulativeQuantity'],
    ['depthLadder', 'asks', 0, 'cumulativeTotal'],
    ['depthLadder', 'asks', 0, 'bookQuantity'],
    ['orderBook', 'bids', 0, 'quantity'],
  ] as const) {
    let found = 0;
    for (let n = 0; n < 6; n++) {
      let isFalse = false;
      const mismatch = await mismatchOf(depthQuery(context, random), ({ data }) => {
        const last = path[path.length - 1] ?? '';
        const parent = path
          .slice(0, -1)
          .reduce<Row | undefined>((value, key) => value?.[key] as Row, (data as { pair: Row }).pair);
        isFalse = typeof parent?.[last] === 'number';
        if (parent && isFalse) parent[last] = more(parent[last]);
        const { pair } = data as { pair: Row };
        if (path[0] !== 'divergence') pair['divergence'] = divergenceOf(pair);
      });
      expect([path, mismatch === undefined]).toEqual([path, !isFalse]);
      if (isFalse) found += 1;
    }
    expect([path, found]).toEqual([path, expect.toSatisfy((count: number) => count > 1)]);
  }
});
