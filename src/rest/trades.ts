import { toShortestDecimal } from '../domain/amount.ts';
import type { Instant } from '../domain/instant.ts';
import type { Pair } from '../domain/market.ts';
import { type PoolPair, poolPairId } from '../domain/pool-pair.ts';
import { type PoolTrade, tradedBy } from '../domain/trade.ts';
import { GatewayError } from '../errors.ts';
import type { Loaders } from '../loaders/loaders.ts';
import type { TradeOfBlock } from '../loaders/pool-trades.ts';
import type { TokenLoader } from '../loaders/token.ts';
import { priceOfTrade } from '../loaders/trades.ts';
import { findPairs, type PairWithPool, withPools } from './candles.ts';
import type { WrittenDocument } from './document.ts';

/** Which trades a client requests: the newest ones of the blocks that were made at or after `from` and before `to`. */
export type TradesRequest = {
  /** A ticker id or a pool id. */
  readonly symbol: string;
  /** Selects one of the pools of a ticker id. */
  readonly poolId: string | undefined;
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
  /** Maximum number of trades, both sides together. */
  readonly last: number;
  /** Whether the trader buys or sells the base token; `undefined` for both. */
  readonly type: 'buy' | 'sell' | undefined;
};

/** Writes `/historical_trades`. @throws GatewayError with `NOT_FOUND`, HistoryUnavailableError, UpstreamError */
export async function writeTrades(request: TradesRequest, loaders: Loaders): Promise<WrittenDocument> {
  const { last, from, to, type } = request;
  const found = await findTradedPools(request, loaders);
  const pairs = new Map(found.map(({ pair, pool }) => [poolPairId(pool), pair]));
  /** A trade sells what comes into the pool. */
  const sellsOf = (pool: PoolPair): PoolTrade['sells'] =>
    (pairs.get(poolPairId(pool))?.baseId === pool.token1Id) === (type === 'sell') ? 1 : 2;
  const pools = found.map(({ pool }) => pool);
  const trades = await loaders.history.trades(pools, { last, from, to, sells: type && sellsOf });
  const texts: Record<'buy' | 'sell', string[]> = { buy: [], sell: [] };
  for (const each of trades) {
    const pair = pairs.get(poolPairId(each.pool));
    const row = pair && toRow(each, pair, loaders.tokens);
    if (row !== undefined) texts[row.type].push(row.text);
  }
  return { texts: [`{"buy":[${texts.buy}],"sell":[${texts.sell}]}`] };
}

/** The pools of V3 that a client means, each with its pair. */
async function findTradedPools({ symbol, poolId }: TradesRequest, loaders: Loaders): Promise<readonly PairWithPool[]> {
  const pairs = await findPairs(symbol, loaders);
  const named = poolId === undefined ? pairs : pairs.filter((pair) => pair.poolId === poolId);
  const found = (await withPools(named, loaders)).filter(({ pool }) => pool.v3 !== undefined);
  if (found.length > 0) return found;
  const missing = named.length === 0 ? `the pool ${JSON.stringify(poolId)}` : 'a pool of V3 on the chain';
  throw new GatewayError('NOT_FOUND', `Ticker ${JSON.stringify(symbol)} does not have ${missing}, and so no trades.`);
}

/**
 * A trade with all digits of its amounts; `undefined` if the decimals of a token are unknown. Its id is the hash of its transaction
 * and the place of the pool in the route: a transaction trades once, and through each pool once. So the id stays the same if another
 * block replaces the one that records the trade.
 */
function toRow({ trade, pool }: TradeOfBlock, { baseId }: Pair, tokens: TokenLoader) {
  const [decimals1, decimals2] = [tokens.decimalsOf(pool.token1Id), tokens.decimalsOf(pool.token2Id)];
  if (decimals1 === undefined || decimals2 === undefined) return undefined;
  const { traded1, traded2 } = tradedBy(trade);
  const volumes = [toShortestDecimal(traded1, decimals1), toShortestDecimal(traded2, decimals2)];
  const isToken1 = baseId === pool.token1Id;
  const [base, target] = isToken1 ? volumes : volumes.toReversed();
  const type: 'buy' | 'sell' = (trade.sells === 1) === isToken1 ? 'sell' : 'buy';
  const head = `"trade_id":"${trade.transactionId}-${trade.step}","price":${priceOfTrade({ trade, pool }, baseId, tokens.list)}`;
  const rest = `"base_volume":${base},"target_volume":${target},"trade_timestamp":${trade.time},"type":"${type}"`;
  return { type, text: `{${head},${rest}}` };
}
