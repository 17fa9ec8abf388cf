import type { Pair } from '../domain/market.ts';
import { basePrice } from '../domain/price.ts';
import type { Loaders } from '../loaders/loaders.ts';
import { type CandlesRequest, RESOLUTIONS, type readSearchParameters } from './parameters.ts';
import { findPair, type PairWithPool, readCandles, withPools } from './pool-documents.ts';

/** The name of the exchange in symbols. A chart writes it before the name, as in `pDEX:pBTC_PRV`. */
const EXCHANGE = 'pDEX';
const TYPE = 'crypto';

/** Decimals of the prices of a chart: enough that a price has six digits, but at least two and at most sixteen. */
const [PRICE_DIGITS, MIN_DECIMALS, MAX_DECIMALS] = [6, 2, 16];

/** In ascending order: an object has its whole numbers first. */
const SUPPORTED = Object.keys(RESOLUTIONS);

/** The document of `/udf/config`: what the datafeed can do. */
export const UDF_CONFIG = {
  supports_search: true,
  supports_group_request: false,
  supports_marks: false,
  supports_timescale_marks: false,
  supports_time: true,
  supported_resolutions: SUPPORTED,
  exchanges: [{ value: EXCHANGE, name: EXCHANGE, desc: 'The decentralized exchange' }],
  symbols_types: [{ name: 'Crypto', value: TYPE }],
};

/** Writes `/udf/symbols`. @throws GatewayError with `NOT_FOUND`, AmbiguousTickerError, UpstreamError */
export async function writeSymbol({ symbol }: { readonly symbol: string }, loaders: Loaders) {
  const found = await findPair(withoutExchange(symbol), loaders);
  const { pair, pool } = found;
  const names = await namesOf(found, loaders);
  const [decimals1, decimals2] = [pool.token1Id, pool.token2Id].map((id) => loaders.tokens.decimalsOf(id));
  const isKnown = decimals1 !== undefined && decimals2 !== undefined;
  const price = isKnown ? basePrice(pool, pair.baseId, decimals1, decimals2) : undefined;
  const decimals = price !== undefined && price > 0 ? PRICE_DIGITS - 1 - Math.floor(Math.log10(price)) : MIN_DECIMALS;
  return toJson({
    ...names,
    listed_exchange: EXCHANGE,
    session: '24x7',
    timezone: 'Etc/UTC',
    format: 'price',
    minmov: 1,
    pricescale: 10 ** Math.min(MAX_DECIMALS, Math.max(MIN_DECIMALS, decimals)),
    currency_code: pair.target,
    has_intraday: true,
    intraday_multipliers: SUPPORTED.filter((resolution) => !resolution.endsWith('D')),
    has_daily: true,
    has_weekly_and_monthly: false,
    supported_resolutions: SUPPORTED,
    volume_precision: Math.min((pair.baseId === pool.token1Id ? decimals1 : decimals2) ?? 0, PRICE_DIGITS),
    data_status: 'streaming',
  });
}

/** Writes `/udf/search`: the pairs that have candles, one for each pool of the chain. @throws UpstreamError */
export async function writeSearch(
  { query, type, exchange, limit }: ReturnType<typeof readSearchParameters>,
  loaders: Loaders,
) {
  const text = withoutExchange(query).toLowerCase();
  const isOther = (type && type !== TYPE) || (exchange && exchange !== EXCHANGE);
  const isMatch = ({ tickerId, base, target }: Pair) =>
    [tickerId, `${base}/${target}`].some((name) => name.toLowerCase().includes(text));
  const { rows } = await loaders.market.pairs.all();
  const found = isOther ? [] : await withPools(rows.filter(isMatch), loaders, limit);
  const symbols = await Promise.all(found.map((each) => namesOf(each, loaders)));
  return {
    ...toJson(symbols.map(({ name, ...names }) => ({ symbol: name, full_name: `${EXCHANGE}:${name}`, ...names }))),
    rows: symbols.length,
  };
}

/** Writes `/udf/history`. @throws GatewayError with `NOT_FOUND`, AmbiguousTickerError, HistoryUnavailableError, UpstreamError */
export async function writeHistory({ symbol, ...range }: CandlesRequest, loaders: Loaders) {
  const found = await findPair(withoutExchange(symbol), loaders);
  const bars = await readCandles(found, range, loaders);
  if (bars.length > 0)
    return toJson({
      s: 'ok',
      t: bars.map(({ time }) => time),
      o: bars.map(({ open }) => open),
      h: bars.map(({ high }) => high),
      l: bars.map(({ low }) => low),
      c: bars.map(({ close }) => close),
      v: bars.map(({ volume }) => volume),
    });
  const { from } = range;
  const earlier = from && (await readCandles(found, { ...range, from: undefined, to: from, last: 1 }, loaders));
  return toJson({ s: 'no_data', nextTime: earlier ? earlier[0]?.time : undefined });
}

/** A ticker id names a pair if it is unique, and a pool id otherwise. */
async function namesOf({ pair }: PairWithPool, loaders: Loaders) {
  const { tickerId, poolId, base, target } = pair;
  const { byTickerId } = await loaders.market.pairs.all();
  const isUnique = (await withPools(byTickerId.get(tickerId) ?? [], loaders, 2)).length < 2;
  const ticker = isUnique ? tickerId : poolId;
  return { name: tickerId, ticker, description: `${base}/${target}`, type: TYPE, exchange: EXCHANGE };
}

function withoutExchange(symbol: string): string {
  return symbol.replace(new RegExp(`^${EXCHANGE}:`, 'i'), '');
}

function toJson(value: object) {
  return { texts: [JSON.stringify(value)] };
}
