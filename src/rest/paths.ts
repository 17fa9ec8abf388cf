/** The path of the description of the REST API. */
export const OPEN_API_PATH = '/openapi.json';

/** How all other paths of the REST API begin. */
export const REST_PREFIX = '/api/';

/** How the paths of TradingView's Universal Datafeed begin, which are the same for all partners. */
export const UDF_PREFIX = '/udf/';

/** The paths of the documents of a market-data host, of candles and of trades. */
export type RestPaths = ReturnType<typeof restPaths>;

/** How the documented paths of a market-data host begin, with the segment that names the partner. */
export function restBase(partner: string): string {
  return `${REST_PREFIX}v1/public/${partner}`;
}

/** The documented paths of a market-data host, with the segment that names the partner. */
export function restPaths(partner: string) {
  const base = restBase(partner);
  return {
    pairs: `${base}/pairs`,
    tickers: `${base}/tickers`,
    orderBook: `${base}/orderbook`,
    candles: `${base}/candles`,
    trades: `${base}/historical_trades`,
  };
}
