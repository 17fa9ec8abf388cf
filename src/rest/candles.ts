import type { CandleInterval } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import type { Pair } from '../domain/market.ts';
import { type PoolPair, poolPairId } from '../domain/pool-pair.ts';
import { AmbiguousTickerError, GatewayError } from '../errors.ts';
import type { CandleVolumes, PricedCandle } from '../loaders/candles.ts';
import type { Loaders } from '../loaders/loaders.ts';
import { withPoolOf } from '../loaders/pool-price.ts';
import type { WrittenDocument } from './document.ts';

/** The names of the intervals of candles in the REST API. */
export const INTERVALS = {
  '1m': 'ONE_MINUTE',
  '5m': 'FIVE_MINUTES',
  '15m': 'FIFTEEN_MINUTES',
  '1h': 'ONE_HOUR',
  '4h': 'FOUR_HOURS',
  '1d': 'ONE_DAY',
} as const satisfies Record<string, CandleInterval>;

/** The names of the same intervals in the Universal Datafeed. The chart also sends `D` for `1D`. */
export const RESOLUTIONS = {
  1: 'ONE_MINUTE',
  5: 'FIVE_MINUTES',
  15: 'FIFTEEN_MINUTES',
  60: 'ONE_HOUR',
  240: 'FOUR_HOURS',
  '1D': 'ONE_DAY',
} as const satisfies Record<string, CandleInterval>;

/** Which candles a client requests: the last ones whose time is at or after `from` and before `to`. */
export type CandlesRequest = {
  /** A ticker id or a pool id. */
  readonly symbol: string;
  readonly interval: CandleInterval;
  readonly from: Instant | undefined;
  readonly to: Instant | undefined;
  readonly last: number;
};

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
  { isCsv, ...request }: CandlesRequest & { readonly isCsv: boolean; readonly intervalName: string },
  loaders: Loaders,
): Promise<WrittenDocument> {
  const found = await findPair(request.symbol, loaders);
  const rows = await readCandles(found, request, loaders);
  if (isCsv) return { contentType: 'text/csv; charset=utf-8; header=present', texts: csvTexts(rows) };
  const { tickerId, poolId } = found.pair;
  const head = { message: 'OK', ticker_id: tickerId, pool_id: poolId, interval: request.intervalName };
  return { contentType: 'application/json', texts: [JSON.stringify({ ...head, candles: rows })] };
}

/** RFC 4180. No value needs quotes. */
function* csvTexts(rows: readonly CandleRow[]): Generator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for (const row of rows) yield `${COLUMNS.map((column) => row[column]).join(',')}\r\n`;
}

/** Reads candles, oldest first. Those without a price are left out. @throws HistoryUnavailableError */
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

/** @param isToken1 whether the base token is token 1. Its price is highest where that of token 2 is lowest */
function toRow(candle: PricedCandle, volumes: CandleVolumes, isToken1: boolean) {
  const { priceOf, inversePriceOf, openTime, isClosed, isComplete } = candle;
  const prices = [candle.open, candle.high, candle.low, candle.close].map(isToken1 ? inversePriceOf : priceOf);
  const [open, first, second, close] = prices;
  const [volume, targetVolume] = isToken1
    ? [volumes.inverseVolume, volumes.volume]
    : [volumes.volume, volumes.inverseVolume];
  if (open === undefined || first === undefined || second === undefined || close === undefined) return undefined;
  const [high, low] = isToken1 ? [second, first] : [first, second];
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
  throw new AmbiguousTickerError(symbol, poolIds, `Use one of their pool ids instead: ${poolIds.join(', ')}.`);
}

/** Finds the pairs of a ticker id, or the pair of a pool id. @throws GatewayError with `NOT_FOUND`, UpstreamError */
export async function findPairs(symbol: string, { market }: Loaders): Promise<readonly Pair[]> {
  const { byTickerId, byPoolId } = await market.pairs.all();
  const named = byPoolId.get(symbol);
  const rows = byTickerId.get(symbol) ?? (named === undefined ? [] : [named]);
  if (rows.length === 0) throw new GatewayError('NOT_FOUND', `Ticker ${JSON.stringify(symbol)} does not exist.`);
  return rows;
}

/** The first pair of each pool on the chain. @throws UpstreamError */
export async function withPools(rows: readonly Pair[], { exchange }: Loaders): Promise<readonly PairWithPool[]> {
  const found = new Map<string, PairWithPool>();
  for (const pair of rows) {
    const pool = await withPoolOf(pair, exchange, (each) => each);
    if (pool !== undefined && !found.has(poolPairId(pool))) found.set(poolPairId(pool), { pair, pool });
  }
  return [...found.values()];
}
