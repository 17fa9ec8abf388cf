import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { isV3, type TradingPool, tradingPools } from '../expected/exchange.ts';
import { hasBranches, tradesSince } from '../expected/pool-trades.ts';
import { type ExpectedTrade, isNear, priceOf } from '../expected/trades.ts';
import { type RestRequest, tickersRequest, withoutHeight } from './rest.ts';

type Row = Readonly<Record<'price' | 'base_volume' | 'target_volume' | 'trade_timestamp', number>> & {
  readonly trade_id: string;
  readonly type: 'buy' | 'sell';
};
type Sides = { readonly buy: readonly Row[]; readonly sell: readonly Row[] };

/** The newest trades of a market of V3, of both sides or of one: those of the chain, in order, with those of the newest block. */
export function tradesRequest(context: SoakContext, random: Random): RestRequest {
  const { shown, served } = context;
  const { chain } = shown;
  if (!isV3(chain)) return tickersRequest(context);
  const market = pick(random, chain.markets);
  const pool = tradingPools(chain).find(({ id }) => id === market.poolId) as TradingPool;
  const isFirstBase = market.base.id === pool.token1.id;
  const limit = pick(random, [1, 20, 500]);
  const type = random.chance(0.5) ? undefined : pick(random, ['buy', 'sell'] as const);
  const path = `historical_trades?ticker_id=${market.poolId}&limit=${limit}${type === undefined ? '' : `&type=${type}`}`;
  const typeOf = ({ sells }: ExpectedTrade) => ((sells === 0) === isFirstBase ? 'sell' : 'buy');

  function rowOf(trade: ExpectedTrade): Row {
    const [sold, bought] = trade.sells === 0 ? [trade.paid, trade.got] : [trade.got, trade.paid];
    const amounts = [Number(sold) / 10 ** pool.token1.decimals, Number(bought) / 10 ** pool.token2.decimals] as const;
    const price = priceOf(trade, pool) ?? Number.NaN;
    return {
      trade_id: `${trade.transactionId}-${trade.step}`,
      price: isFirstBase ? 1 / price : price,
      base_volume: amounts[isFirstBase ? 0 : 1],
      target_volume: amounts[isFirstBase ? 1 : 0],
      trade_timestamp: trade.time * 1_000,
      type: typeOf(trade),
    };
  }

  function sideMismatch(rows: readonly Row[], expected: readonly ExpectedTrade[], block: Block): string | undefined {
    let place = 0;
    for (const row of rows) {
      const found = expected.findIndex((trade, at) => at >= place && rowOf(trade).trade_id === row.trade_id);
      const trade = expected[found];
      if (trade === undefined) return `the trade ${row.trade_id} is not of the chain, or not in order`;
      const skipped = expected.slice(place, found).find(({ height }) => height === block.height);
      if (skipped !== undefined) return `the trade ${rowOf(skipped).trade_id} of the newest block is missing`;
      const is = rowOf(trade);
      const wrong = (['price', 'base_volume', 'target_volume'] as const).find((name) => !isNear(row[name], is[name]));
      if (wrong !== undefined || row.trade_timestamp !== is.trade_timestamp || row.type !== is.type)
        return `${JSON.stringify(row)} instead of ${JSON.stringify(is)}`;
      place = found + 1;
    }
    return undefined;
  }

  return {
    path,
    operation: {
      kind: 'trades by REST',
      query: `GET ${path}`,
      check(data, times) {
        const { sides, height } = data as { sides: Sides; height?: number };
        const rows = [...sides.buy, ...sides.sell];
        if (rows.length > limit) return `${rows.length} trades with the limit ${limit}`;
        if (rows.some((row) => type !== undefined && row.type !== type)) return `not only ${type}`;
        if (height === undefined) return withoutHeight(context, times);
        const oldest = Math.min(...rows.map((row) => row.trade_timestamp)) / 1_000;
        return served.mismatch(height, times, (block) => {
          if (hasBranches(shown, block, oldest)) return undefined;
          const all = tradesSince(chain, block, pool, Math.min(oldest, block.time));
          const ofSide = (side: 'buy' | 'sell') =>
            sideMismatch(
              sides[side],
              all.filter((trade) => typeOf(trade) === side),
              block,
            );
          const ofHead = all.filter(
            (trade) => trade.height === block.height && (type ?? typeOf(trade)) === typeOf(trade),
          );
          if (rows.length < Math.min(limit, ofHead.length))
            return `${rows.length} trades, the newest block has ${ofHead.length}`;
          return ofSide('buy') ?? ofSide('sell');
        });
      },
    },
    ofNode: ['trades'],
    toData: (sides, height) => ({ sides, ...(height !== undefined && { height }) }),
  };
}
