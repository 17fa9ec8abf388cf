import { candlesOperation, UDF_OPERATIONS } from './openapi-charts.ts';
import { EXAMPLES } from './openapi-examples.ts';
import { CACHE_HEADERS, COMMON_HEADERS, ERRORS, failure, ref, success } from './openapi-responses.ts';
import { SCHEMAS } from './openapi-schemas.ts';
import { OPEN_API_PATH, type RestPaths, UDF_PREFIX } from './paths.ts';

/** What the description of the REST API depends on. */
type OpenApiOptions = {
  readonly paths: RestPaths;
  readonly version: string;
  /** Whether the data is simulated. */
  readonly isSandbox: boolean;
  /** Maximum number of candles in a document. */
  readonly maxCandles: number;
};

/** Creates the description of the REST API in OpenAPI 3.1. */
export function createOpenApi({ paths, version, isSandbox, maxCandles }: OpenApiOptions): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'pdex-gateway: market data',
      version,
      summary: 'Pairs, tickers, order books and candles of a decentralized exchange.',
      description: `${isSandbox ? 'This gateway serves simulated data. ' : ''}${DESCRIPTION}`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [
      { name: 'market', description: 'The documents of a market-data host, and candles.' },
      { name: 'udf', description: "Candles as TradingView's Universal Datafeed (UDF) defines them." },
      { name: 'description', description: 'This document.' },
    ],
    security: [],
    paths: {
      [paths.pairs]: { get: PAIRS },
      [paths.tickers]: { get: TICKERS },
      [paths.orderBook]: { get: ORDER_BOOK },
      [paths.candles]: { get: candlesOperation(maxCandles) },
      ...Object.fromEntries(Object.entries(UDF_OPERATIONS).map(([name, get]) => [`${UDF_PREFIX}${name}`, { get }])),
      [OPEN_API_PATH]: { get: OPEN_API },
    },
    components: { schemas: SCHEMAS, headers: HEADERS, parameters: PARAMETERS, responses: RESPONSES },
  };
}

const DESCRIPTION = `The gateway reads the market-data host and the node once for all clients, and responds from memory. All paths also accept HEAD and OPTIONS. Pages of all origins may read the responses. Unknown parameters are ignored. Numbers can have an exponent.`;

const PAIRS = {
  operationId: 'getPairs',
  tags: ['market'],
  summary: 'All pairs',
  description: 'All pairs of the exchange, in the order of the market-data host.',
  parameters: [ref('parameters', 'IfNoneMatch'), ref('parameters', 'MinHeight')],
  responses: { 200: success('The pairs.', 'PairList', EXAMPLES.pairs), ...ERRORS },
};

const TICKERS = {
  operationId: 'getTickers',
  tags: ['market'],
  summary: 'Prices and volumes of all pairs',
  description:
    'The last price and the 24-hour volumes of each pair, in the order of the market-data host. The gateway adds fields from other data that it has: the best prices of order books that it has read within the last minute, the 24-hour high and low, and the price and liquidity of the pool on the chain. All pools have the same beacon height.',
  parameters: [ref('parameters', 'IfNoneMatch'), ref('parameters', 'MinHeight')],
  responses: {
    200: success('The tickers.', 'TickerList', EXAMPLES.tickers, { 'X-Pdex-Height': ref('headers', 'Height') }),
    ...ERRORS,
  },
};

const ORDER_BOOK = {
  operationId: 'getOrderBook',
  tags: ['market'],
  summary: 'The order book of a ticker',
  description:
    'The order book of one ticker id. Bids are sorted by descending price and asks by ascending price. Entries with the same price are merged. All clients get the same snapshot for the time of the setting `ORDER_BOOK_TTL_MS`. Pairs with the same ticker id share one book.',
  parameters: [
    ref('parameters', 'TickerId'),
    ref('parameters', 'Depth'),
    ref('parameters', 'Uncrossed'),
    ref('parameters', 'IfNoneMatch'),
    ref('parameters', 'MinHeight'),
  ],
  responses: {
    200: success('The order book.', 'OrderBook', EXAMPLES.orderBook),
    404: ref('responses', 'NotFound'),
    ...ERRORS,
  },
};

const OPEN_API = {
  operationId: 'getOpenApi',
  tags: ['description'],
  summary: 'This description',
  description: 'The description of this API in OpenAPI 3.1.',
  parameters: [ref('parameters', 'IfNoneMatch')],
  responses: {
    200: {
      description: 'The description.',
      headers: { ...CACHE_HEADERS, ...COMMON_HEADERS },
      content: { 'application/json': { schema: { type: 'object' } } },
    },
    304: ERRORS[304],
    429: ERRORS[429],
    500: ERRORS[500],
  },
};

const PARAMETERS = {
  TickerId: {
    name: 'ticker_id',
    in: 'query',
    required: true,
    description: 'A ticker id of `/tickers` or `/pairs`.',
    schema: { type: 'string', minLength: 1 },
    example: 'pBTC_PRV',
  },
  Depth: {
    name: 'depth',
    in: 'query',
    description:
      'Maximum number of entries on both sides together: 100 returns up to 50 bids and 50 asks. An odd number is rounded up. 0 returns the complete book.',
    schema: { type: 'integer', minimum: 0, maximum: 999_999_999, default: 0 },
    example: 100,
  },
  Uncrossed: {
    name: 'uncrossed',
    in: 'query',
    description:
      'If true, the gateway first matches crossing orders, the highest bid with the lowest ask. Then the highest bid is below the lowest ask. Otherwise, a crossed book stays crossed.',
    schema: { type: 'boolean', default: false },
  },
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
    schema: { type: 'integer', minimum: 0 },
    example: 1_640_000,
  },
};

const integerText = { type: 'string', pattern: '^\\d+$' };

const HEADERS = {
  RequestId: {
    description: 'The id of the request. The log of the gateway contains it too. A client can send its own id.',
    schema: { type: 'string' },
  },
  Sandbox: { description: '`true` if the data is simulated.', schema: { const: 'true' } },
  CacheControl: {
    description: '`max-age` with the whole seconds until newer data is expected. `no-store` for an error.',
    schema: { type: 'string' },
    example: 'max-age=8',
  },
  Vary: {
    description: 'Caches store a document for each value of `X-Pdex-Min-Height`, and for candles of `Accept`.',
    schema: { type: 'string' },
  },
  ETag: { description: 'Equal documents have equal tags.', schema: { type: 'string' } },
  Age: {
    description:
      'Present only if data is stale, because its upstream cannot be read now: the age of the oldest data, in seconds.',
    schema: integerText,
    example: '42',
  },
  Height: {
    description: 'The beacon height of the pool prices. Present only if the gateway has read the node.',
    schema: integerText,
    example: '1640000',
  },
  RetryAfter: { description: 'Number of seconds to wait before the next request.', schema: integerText, example: '10' },
  RateLimitPolicy: {
    description: 'The rate limit of this client address, if there is one: `q` points in `w` seconds.',
    schema: { type: 'string' },
  },
  RateLimit: {
    description: 'The points left (`r`), and the seconds until all of them are back (`t`).',
    schema: { type: 'string' },
  },
};

const RETRY_AFTER = { 'Retry-After': ref('headers', 'RetryAfter') };

const RESPONSES = {
  NotModified: {
    description: 'The client has the current document. There is no body.',
    headers: {
      ...CACHE_HEADERS,
      Vary: ref('headers', 'Vary'),
      'X-Pdex-Height': ref('headers', 'Height'),
      ...COMMON_HEADERS,
    },
  },
  InvalidParameter: failure('A parameter or a header is invalid.', ['BAD_USER_INPUT']),
  NotFound: failure('The ticker does not exist, or has no pool on the chain.', ['NOT_FOUND']),
  HeightNotReached: failure(
    'The gateway has not reached the height in `X-Pdex-Min-Height`.',
    ['HEIGHT_NOT_AVAILABLE'],
    RETRY_AFTER,
  ),
  RateLimited: failure('This client address exceeds a limit.', ['RATE_LIMITED'], RETRY_AFTER),
  InternalError: failure('The gateway has a defect.', ['INTERNAL_SERVER_ERROR']),
  NotAvailable: failure(
    'The market-data host, for candles also the node or the recorded history, cannot be read, and what was read before is too old or missing.',
    ['UPSTREAM_UNREACHABLE', 'UPSTREAM_NOT_CONFIGURED', 'HISTORY_UNAVAILABLE'],
    RETRY_AFTER,
  ),
};
