import { ref, WHOLE } from './openapi-schemas.ts';

/** References to the descriptions of headers. */
export function headers(...names: readonly string[]) {
  return Object.fromEntries(names.map((name) => [name, ref('headers', name.replace(/^X-(Pdex-)?|-/g, ''))]));
}

/** The headers of every response. */
export const COMMON = ['Cache-Control', 'X-Request-Id', 'X-Pdex-Sandbox', 'RateLimit-Policy', 'RateLimit'];

/** A response with a JSON document of a schema. @param more the names of the headers that not all documents have */
export function document(description: string, schema: keyof typeof EXAMPLES, ...more: readonly string[]) {
  const examples = { sample: { value: EXAMPLES[schema] } };
  return {
    description,
    headers: headers('ETag', 'Vary', 'Age', ...more, ...COMMON),
    content: { 'application/json': { schema: ref('schemas', schema), examples } },
  };
}

/** A response with an error. @param messages an example of the message of each code */
function failure(description: string, messages: Readonly<Record<string, string>>, ...more: readonly string[]) {
  const examples = Object.entries(messages).map(([code, message]) => [code, { value: { code, message } }] as const);
  return {
    description,
    headers: headers(...more, ...COMMON),
    content: { 'application/json': { schema: ref('schemas', 'Error'), examples: Object.fromEntries(examples) } },
  };
}

/** @param prefix how the names of the responses begin */
function errors(prefix: string) {
  const error = (name: keyof typeof FAILURES) => ref('responses', `${prefix}${name}`);
  return {
    304: ref('responses', 'NotModified'),
    400: error('InvalidParameter'),
    412: error('HeightNotReached'),
    429: error('RateLimited'),
    500: error('InternalError'),
    503: error('NotAvailable'),
  };
}

/** The other responses of every document, by their status. */
export const ERRORS = errors('');

/** The response of a document whose ticker does not exist. */
export const NOT_FOUND = { 404: ref('responses', 'NotFound') };

/** All other responses of the Universal Datafeed. */
export const UDF_ERRORS = { ...errors('Udf'), 404: ref('responses', 'UdfNotFound') };

/** The parameters of several documents. */
export const PARAMETERS = {
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier response. The response is 304 if nothing has changed since.',
    schema: { type: 'string' },
  },
  MinHeight: {
    name: 'X-Pdex-Min-Height',
    in: 'header',
    description:
      'The newest beacon height that the client has seen, also from another gateway. The gateway waits until it has that height.',
    schema: { ...WHOLE, minimum: 0 },
    example: 1_640_000,
  },
};

const TEXT = { type: 'string' };
const WHOLE_NUMBER = { type: 'string', pattern: '^\\d+$' };

const header = (description: string, schema: object, example?: string) => ({ description, schema, example });

/** The headers, by their names without hyphens. */
export const HEADERS = {
  RequestId: header(
    'The id of the request. The log of the gateway contains it too. A client can send its own id.',
    TEXT,
  ),
  Sandbox: header('`true` if the data is simulated.', { const: 'true' }),
  CacheControl: header(
    '`max-age` with the whole seconds until newer data is expected. `no-store` for an error and for `/udf/time`, `no-cache` for what changes only with a version.',
    TEXT,
    'max-age=8',
  ),
  Vary: header('Caches store a document for each value of `X-Pdex-Min-Height`, and for candles of `Accept`.', TEXT),
  ETag: header('Equal documents have equal tags.', TEXT),
  Age: header(
    'Present only if data is stale, because its upstream cannot be read now: the age of the oldest data, in seconds.',
    WHOLE_NUMBER,
    '42',
  ),
  Height: header(
    'The beacon height of the pool prices. Present only if the gateway has read the node.',
    WHOLE_NUMBER,
    '1640000',
  ),
  RetryAfter: header('Number of seconds to wait before the next request.', WHOLE_NUMBER, '10'),
  RateLimitPolicy: header('The rate limit of this client address, if there is one: `q` points in `w` seconds.', TEXT),
  RateLimit: header('The points left (`r`), and the seconds until all of them are back (`t`).', TEXT),
};

const FAILURES = {
  InvalidParameter: failure('A parameter or a header is invalid, or several pools have the ticker id.', {
    BAD_USER_INPUT:
      'depth is "-1". It must be 0 (the complete book) or a whole number of entries, both sides together.',
  }),
  NotFound: failure('The ticker does not exist, or has no pool on the chain.', {
    NOT_FOUND: 'Ticker "pXYZ_PRV" does not exist.',
  }),
  HeightNotReached: failure(
    'The gateway has not reached the height in `X-Pdex-Min-Height`.',
    {
      HEIGHT_NOT_AVAILABLE:
        'The gateway did not reach the minimum height 1640007 within 10000 ms. Its newest height is 1640000.',
    },
    'Retry-After',
  ),
  RateLimited: failure(
    'This client address exceeds a limit.',
    { RATE_LIMITED: 'This client address exceeds the rate limit. Retry in 420 ms.' },
    'Retry-After',
  ),
  InternalError: failure('The gateway has a defect.', {
    INTERNAL_SERVER_ERROR: 'An internal error occurred in the gateway.',
  }),
  NotAvailable: failure(
    'The market-data host, for candles and trades also the node or the recorded history, cannot be read, and what was read before is too old or missing.',
    {
      UPSTREAM_UNREACHABLE: 'The market-data host cannot be reached.',
      UPSTREAM_NOT_CONFIGURED: 'The market-data host is not configured.',
      HISTORY_UNAVAILABLE: 'The recorded history cannot be read now.',
    },
    'Retry-After',
  ),
};

/** The same response of the Universal Datafeed, whose errors have other names. */
function udfFailure({ content, ...response }: ReturnType<typeof failure>) {
  const { examples } = content['application/json'];
  const named = Object.entries(examples).map(([code, { value }]) => [
    code,
    { value: { s: 'error', errmsg: value.message, code } },
  ]);
  const json = { schema: ref('schemas', 'UdfError'), examples: Object.fromEntries(named) };
  return { ...response, content: { 'application/json': json } };
}

/** The responses without a document. */
export const RESPONSES = {
  NotModified: {
    description: 'The client has the current document. There is no body.',
    headers: headers('ETag', 'Vary', 'X-Pdex-Height', ...COMMON),
  },
  ...FAILURES,
  ...Object.fromEntries(Object.entries(FAILURES).map(([name, response]) => [`Udf${name}`, udfFailure(response)])),
};

const BASE = 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696';
const TARGET = '0000000000000000000000000000000000000000000000000000000000000004';
const POOL = `${TARGET}-${BASE}-4a2d5b7d3a0f4f7f3d35d0c5b4d3f5f7a9c1d7a0b8e3c9f2e6d4b1a8c7f05e13`;
const TICKER = 'pBTC_PRV';
const SAME_IDS = { ticker_id: TICKER, base_id: BASE, target_id: TARGET, pool_id: POOL };
const TIME = 1767225600;
const UDF_NAMES = { ticker: TICKER, description: 'pBTC/PRV', type: 'crypto', exchange: 'pDEX' };

const EXAMPLES = {
  PairList: { message: 'OK', pairs: [{ ...SAME_IDS, base: 'pBTC', target: 'PRV' }] },
  TickerList: {
    message: 'OK',
    tickers: [
      {
        ...SAME_IDS,
        ...{ base_currency: 'pBTC', target_currency: 'PRV' },
        ...{ last_price: 11603.98686742443, base_volume: 42.94792892, target_volume: 498367.2 },
        ...{ bid: 11536.3, ask: 11605.7, high: 11871.4, low: 11390.2 },
        ...{ pool_price: 11543.17094387, liquidity: 3838481.260490884, liquidity_in_usd: 4950000.4 },
        ...{ pool_base_volume: 41.9078, pool_target_volume: 486202.61, is_pool_volume_complete: true },
        pool_last_price: 11551.8,
      },
    ],
  },
  OrderBook: {
    message: 'OK',
    ticker_id: TICKER,
    timestamp: TIME * 1_000,
    bids: [
      [11536.3, 0.25],
      [11530.1, 1.5],
    ],
    asks: [
      [11605.7, 0.4],
      [11612.9, 2],
    ],
  },
  CandleList: {
    message: 'OK',
    ticker_id: TICKER,
    pool_id: POOL,
    interval: '1h',
    candles: [
      {
        ...{ time: TIME, open: 11603.9, high: 11871.4, low: 11590.2, close: 11733.5 },
        ...{ volume: 1.25, target_volume: 14600.5, is_closed: true, is_complete: true, is_volume_exact: true },
      },
    ],
  },
  TradeList: {
    buy: [
      {
        ...{ trade_id: `${'9f'.repeat(32)}-0`, price: 11603.2, base_volume: 0.25, target_volume: 2900.8 },
        ...{ trade_timestamp: TIME * 1_000, type: 'buy' },
      },
    ],
    sell: [],
  },
  UdfHistory: { s: 'ok', t: [TIME], o: [11603.9], h: [11871.4], l: [11590.2], c: [11733.5], v: [1.25] },
  UdfSymbol: {
    ...{ name: TICKER, ...UDF_NAMES, listed_exchange: 'pDEX', session: '24x7', timezone: 'Etc/UTC', format: 'price' },
    ...{ minmov: 1, pricescale: 100, currency_code: 'PRV', has_intraday: true, intraday_multipliers: ['1', '60'] },
    ...{ has_daily: true, has_weekly_and_monthly: false, supported_resolutions: ['1', '60', '1D'] },
    ...{ volume_precision: 6, data_status: 'streaming' },
  },
  UdfSymbols: [{ symbol: TICKER, full_name: `pDEX:${TICKER}`, ...UDF_NAMES }],
};
