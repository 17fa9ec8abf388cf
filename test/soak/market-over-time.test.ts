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

const closed = ({ candles }: { candles: Row[] }) =>
  candles.find(({ isComplete, isClosed }) => isComplete && isClosed) ?? {};
const change = (pool: { change: Row }) => pool.change;
const PRICES = ['open', 'high', 'low', 'close'];
const FIELDS = [
  ...[...PRICES, 'tradedToken1', 'tradedToken2', 'heights', 'firstHeight', 'lastHeight'].map((name) => ({
    of: closed,
    name,
  })),
  ...['from', 'to', 'percent', 'absolute'].map((name) => ({ of: change, name })),
];

test('the soak test finds nothing in the history of a pool, and each field that is falsified, and the order of candles', async () => {
  const { context, judged } = await startWithHistory();
  const random = createRandom('history');
  const poolOf = ({ data }: GraphqlResponse) => (data as { poolPair: { candles: Row[]; change: Row } }).poolPair;
  const found = new Map<string, number>();
  const rare = () => [...FIELDS.map(({ name }) => name), 'order'].filter((name) => (found.get(name) ?? 0) < 2);
  for (let n = 0; n < 25 && rare().length > 0; n++) {
    const mismatch = await judged(historyQuery(context, random));
    expect(mismatch()).toBeUndefined();
    for (const { of, name } of FIELDS) {
      let isFalse = false;
      const finding = mismatch((answer) => {
        const row = of(poolOf(answer));
        isFalse = row[name] != null;
        if (isFalse) row[name] = more(row[name]);
      });
      expect([name, n, finding === undefined]).toEqual([name, n, !isFalse]);
      if (isFalse) found.set(name, (found.get(name) ?? 0) + 1);
    }

    let count = 0;
    const reversed = mismatch((answer) => {
      count = poolOf(answer).candles.reverse().length;
    });
    const twice = mismatch((answer) => {
      const { candles } = poolOf(answer);
      candles.push(...candles.slice(-1));
    });
    expect([reversed, twice]).toEqual([count > 1 ? 'the candles overlap' : undefined, 'the candles overlap']);
    if (count > 1) found.set('order', (found.get('order') ?? 0) + 1);
  }
  expect(rare()).toEqual([]);
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

const PATHS: readonly (readonly (string | number)[])[] = [
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
];

test('the soak test finds nothing in the depth of a pair, and each field that is falsified', async () => {
  const { context, judged, untilHeight } = await startContext();
  await untilHeight(context.shown.chain.tip.height);
  const random = createRandom('depth');
  const found = PATHS.map(() => 0);
  const rare = () => PATHS.filter((_, place) => (found[place] ?? 0) < 2);
  for (let n = 0; n < 10 && rare().length > 0; n++) {
    const mismatch = await judged(depthQuery(context, random));
    expect(mismatch()).toBeUndefined();
    for (const [place, path] of PATHS.entries()) {
      let isFalse = false;
      const finding = mismatch(({ data }) => {
        const last = path[path.length - 1] ?? '';
        const parent = path
          .slice(0, -1)
          .reduce<Row | undefined>((value, key) => value?.[key] as Row, (data as { pair: Row }).pair);
        isFalse = typeof parent?.[last] === 'number';
        if (parent && isFalse) parent[last] = more(parent[last]);
        const { pair } = data as { pair: Row };
        if (path[0] !== 'divergence') pair['divergence'] = divergenceOf(pair);
      });
      expect([path, finding === undefined]).toEqual([path, !isFalse]);
      if (isFalse) found[place] = (found[place] ?? 0) + 1;
    }
  }
  expect(rare()).toEqual([]);
});
