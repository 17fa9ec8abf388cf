/** The path of the description of the REST API. */
export const OPEN_API_PATH = '/openapi.json';

/** How all other paths of the REST API begin. */
export const REST_PREFIX = '/api/';

/** The paths of the three documents. */
export type RestPaths = { readonly pairs: string; readonly tickers: string; readonly orderBook: string };

/** How the documented paths of a market-data host begin, with the segment that names the partner. */
export function restBase(partner: string): string {
  return `${REST_PREFIX}v1/public/${partner}`;
}

/** The documented paths of a market-data host, with the segment that names the partner. */
export function restPaths(partner: string): RestPaths {
  const base = restBase(partner);
  return { pairs: `${base}/pairs`, tickers: `${base}/tickers`, orderBook: `${base}/orderbook` };
}
