import { toShortestDecimal } from '../domain/amount.ts';
import type { Pair } from '../domain/market.ts';
import { type PoolPair, poolPairId } from '../domain/pool-pair.ts';
import { type PoolTrade, tradedBy } from '../domain/trade.ts';
import { AmbiguousTickerError, GatewayError } from '../errors.ts';
import type { CandleVolumes, PricedCandle } from '../loaders/candles.ts';
import type { Loaders } from '../loaders/loaders.ts';
import { withPoolOf } from '../loaders/pool-price.ts';
import type { TradeOfBlock } from '../loaders/pool-trades.ts';
import type { TokenLoader } from '../loaders/token.ts';
import { priceOfTrade } from '../loaders/trades.ts';
import type { WrittenDocument } from './document.ts';
import { type CandlesRequest, CSV_TYPE, type readCandlesParameters, type readTradesParameters } from './parameters.ts';

/** A pair, and its pool on the chain. */
export type PairWithPool = { readonly pair: Pair; readonly pool: PoolPair };

/**
 * Prices of one base token in target tokens, and volumes in whole tokens. The names are those of chart libraries, and so is the
 * unit of `time`, Unix seconds.
 */
type CandleRow = NonNullable<ReturnType<typeof toRow>>;

const COLUMNS: readonly (keyof CandleRow)[] = [
  ...(['time', 'open', 'high', 'low', 'close', 'volume', 'target_volume'] as const),
  ...(['is_closed', 'is_complete', 'is_volume_exact'] as const),
];

/** Writes `/candles`. @throws GatewayError with `NOT_FOUND`, AmbiguousTickerError, HistoryUnavailableError, UpstreamError */
export async function writeCandles(
  { isCsv, ...request }: ReturnType<typeof readCandlesParameters>,
  loaders: Loaders,
): Promise<WrittenDocument> {
  const found = await findPair(request.symbol, loaders);
  const rows = await readCandles(found, request, loaders);
  if (isCsv) return { contentType: CSV_TYPE, texts: csvTexts(rows) };
  const { tickerId, poolId } = found.pair;
  const head = { message: 'OK', ticker_id: tickerId, pool_id: poolId, interval: request.intervalName };
  return { contentType: 'application/json', texts: [JSON.stringify({ ...head, candles: rows })] };
}

/** RFC 4180. No value needs quotes. */
function* csvTexts(rows: readonly CandleRow[]): Generator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for (const row of rows) yield `${COLUMNS.map((column) => row[column]).join(',')}\r\n`;
}

/** Reads candles, oldest first. Those without a price are left out, but count in `last`. @throws HistoryUnavailableError */
export async function readCandles(
  { pair, pool }: PairWithPool,
  request: Omit<CandlesRequest, 'symbol'>,
  { history }: Loaders,
): Promise<readonly CandleRow[]> {
  const isToken1 = pair.baseId === pool.token1Id;
  const candles = await history.candles(pool, request);
  const rows = await Promise.all(candles.map(async (candle) => toRow(candle, await candle.volumes(), isToken1)));
  return rows.filter((row) => row !== undefined);
}

/**
 * A candle has the states with the highest and the lowest ratio of the reserves. If liquidity was added or withdrawn, `open` or
 * `close` can still be above or below their prices, so the highest and the lowest of the four are taken.
 *
 * @param isToken1 whether the base token is token 1
 */
function toRow(candle: PricedCandle, volumes: CandleVolumes, isToken1: boolean) {
  const { priceOf, inversePriceOf, openTime, isClosed, isComplete } = candle;
  const prices = [candle.open, candle.high, candle.low, candle.close].map(isToken1 ? inversePriceOf : priceOf);
  const [open, , , close] = prices;
  const [volume, targetVolume] = isToken1
    ? [volumes.inverseVolume, volumes.volume]
    : [volumes.volume, volumes.inverseVolume];
  if (open === undefined || close === undefined) return undefined;
  const known = prices.filter((price) => price !== undefined);
  const [high, low] = [Math.max(...known), Math.min(...known)];
  return {
    ...{ time: openTime / 1_000, open, high, low, close, volume: volume ?? 0, target_volume: targetVolume ?? 0 },
    ...{ is_closed: isClosed, is_complete: isComplete, is_volume_exact: volumes.isExact },
  };
}

/**
 * Finds the pair of a ticker id or a pool id. Pairs that have the same pool on the chain have the same candles.
 *
 * @throws GatewayError with `NOT_FOUND`, AmbiguousTickerError if pairs of different tokens have that ticker id, UpstreamError
 */
export async function findPair(symbol: string, loaders: Loaders): Promise<PairWithPool> {
  const [found, ...others] = await withPools(await findPairs(symbol, loaders), loaders);
  if (found === undefined)
    throw new GatewayError(
      'NOT_FOUND',
      `Ticker ${JSON.stringify(symbol)} has no pool on the chain, and so no candles.`,
    );
  if (others.length === 0) return found;
  const poolIds = [found, ...others].map(({ pair }) => pair.poolId);
  throw new AmbiguousTickerError(symbol, poolIds, 'Use one of their pool ids instead.');
}

/** Finds the pairs of a ticker id, or the pair of a pool id. @throws GatewayError with `NOT_FOUND`, UpstreamError */
async function findPairs(symbol: string, { market }: Loaders): Promise<readonly Pair[]> {
  const { byTickerId, byPoolId } = await market.pairs.all();
  const named = byPoolId.get(symbol);
  const rows = byTickerId.get(symbol) ?? (named === undefined ? [] : [named]);
  if (rows.length === 0) throw new GatewayError('NOT_FOUND', `Ticker ${JSON.stringify(symbol)} does not exist.`);
  return rows;
}

/** The first pair of each pool on the chain, until so many are found. @throws UpstreamError */
export async function withPools(
  rows: readonly Pair[],
  { exchange }: Loaders,
  limit = Number.POSITIVE_INFINITY,
): Promise<readonly PairWithPool[]> {
  const found = new Map<string, PairWithPool>();
  for (const pair of rows) {
    if (found.size >= limit) break;
    const pool = await withPoolOf(pair, exchange, (each) => each);
    if (pool !== undefined && !found.has(poolPairId(pool))) found.set(poolPairId(pool), { pair, pool });
  }
  return [...found.values()];
}

/** Writes `/historical_trades`. @throws GatewayError with `NOT_FOUND`, HistoryUnavailableError, UpstreamError */
export async function writeTrades(
  request: ReturnType<typeof readTradesParameters>,
  loaders: Loaders,
): Promise<WrittenDocument> {
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
    const row = pair && toTradeRow(each, pair, loaders.tokens);
    if (row !== undefined) texts[row.type].push(row.text);
  }
  return { texts: [`{"buy":[${texts.buy}],"sell":[${texts.sell}]}`] };
}

/** The pools of V3 that a client means, each with its pair. */
async function findTradedPools(
  { symbol, poolId }: Pick<ReturnType<typeof readTradesParameters>, 'symbol' | 'poolId'>,
  loaders: Loaders,
): Promise<readonly PairWithPool[]> {
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
function toTradeRow({ trade, pool }: TradeOfBlock, { baseId }: Pair, tokens: TokenLoader) {
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
