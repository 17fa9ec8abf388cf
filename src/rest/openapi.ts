import { DEFAULT_CANDLES } from '../loaders/candles.ts';
import {
  COMMON,
  document,
  ERRORS,
  HEADERS,
  headers,
  NOT_FOUND,
  PARAMETERS,
  RESPONSES,
  UDF_ERRORS,
} from './openapi-components.ts';
import { ref, SCHEMAS, WHOLE } from './openapi-schemas.ts';
import {
  DEFAULT_SYMBOLS,
  DEFAULT_TRADES,
  INTERVALS,
  MAX_COUNTBACK,
  MAX_SYMBOLS,
  MAX_TRADES,
  RESOLUTIONS,
} from './parameters.ts';
import { OPEN_API_PATH, type RestPaths, UDF_PREFIX } from './rest-api.ts';

type OpenApiOptions = {
  readonly paths: RestPaths;
  readonly version: string;
  readonly isSandbox: boolean;
  readonly maxCandles: number;
};

/** Creates the description of the REST API in OpenAPI 3.1. */
export function createOpenApi({ paths, version, isSandbox, maxCandles }: OpenApiOptions): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'pdex-gateway: market data',
      version,
      summary: 'Pairs, tickers, order books, trades and candles of a decentralized exchange.',
      description: `${isSandbox ? 'This gateway serves simulated data. ' : ''}${DESCRIPTION}`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '.' }],
    tags: [
      { name: 'market', description: 'The documents of a market-data host, trades, and candles.' },
      { name: 'udf', description: "Candles as TradingView's Universal Datafeed (UDF) defines them." },
      { name: 'description', description: 'This document.' },
    ],
    security: [],
    paths: {
      [paths.pairs]: { get: PAIRS },
      [paths.tickers]: { get: TICKERS },
      [paths.orderBook]: { get: ORDER_BOOK },
      [paths.candles]: { get: candles(maxCandles) },
      [paths.trades]: { get: TRADES },
      ...Object.fromEntries(Object.entries(UDF).map(([name, get]) => [`${UDF_PREFIX}${name}`, { get }])),
      [OPEN_API_PATH]: { get: OPEN_API },
    },
    components: { schemas: SCHEMAS, headers: HEADERS, parameters: PARAMETERS, responses: RESPONSES },
  };
}

const DESCRIPTION = `The gateway reads the market-data host and the node once for all clients, and responds from memory. Candles and older trades come from the recorded history. All paths also accept HEAD and OPTIONS. Pages of all origins may read the responses. Unknown parameters are ignored. Numbers can have an exponent.`;

const CONDITIONS = [ref('parameters', 'IfNoneMatch'), ref('parameters', 'MinHeight')];

const PAIRS = {
  operationId: 'getPairs',
  tags: ['market'],
  summary: 'All pairs',
  description: 'All pairs of the exchange, in the order of the market-data host.',
  parameters: CONDITIONS,
  responses: { 200: document('The pairs.', 'PairList'), ...ERRORS },
};

const TICKERS = {
  operationId: 'getTickers',
  tags: ['market'],
  summary: 'Prices and volumes of all pairs',
  description:
    'The last price and the 24-hour volumes of each pair, in the order of the market-data host. The gateway adds fields from other data that it has: the best prices of order books that it has read recently, the 24-hour high and low, and the price, the liquidity and the trades of the pool on the chain. All pools have the same beacon height.',
  parameters: CONDITIONS,
  responses: { 200: document('The tickers.', 'TickerList', 'X-Pdex-Height'), ...ERRORS },
};

const NON_EMPTY = { type: 'string', minLength: 1 };
const COUNT = { ...WHOLE, minimum: 1 };

function query(name: string, description: string, schema: object, required = false) {
  return { name, in: 'query', required, description, schema };
}

function seconds(name: string, description: string, required = false) {
  return query(name, `${description} In seconds since 1970-01-01T00:00:00Z.`, WHOLE, required);
}

function milliseconds(name: string, description: string) {
  const unit = 'In milliseconds since 1970-01-01T00:00:00Z. A number of seconds is refused.';
  return query(name, `${description} ${unit}`, { ...WHOLE, minimum: 0 });
}

const ORDER_BOOK = {
  operationId: 'getOrderBook',
  tags: ['market'],
  summary: 'The order book of a ticker',
  description:
    'The order book of one ticker id. Bids are sorted by descending price and asks by ascending price. Entries with the same price are merged. All clients get the same snapshot for the time of the setting `ORDER_BOOK_TTL_MS`. Pairs with the same ticker id share one book.',
  parameters: [
    { ...query('ticker_id', 'A ticker id of `/tickers` or `/pairs`.', NON_EMPTY, true), example: 'pBTC_PRV' },
    query(
      'depth',
      'Maximum number of entries on both sides together: 100 returns up to 50 bids and 50 asks. An odd number is rounded up. 0 returns the complete book.',
      { type: 'integer', minimum: 0, maximum: 999_999_999, default: 0, examples: [100] },
    ),
    query(
      'uncrossed',
      'If true, the gateway first matches crossing orders, the highest bid with the lowest ask. Then the highest bid is below the lowest ask. Otherwise, a crossed book stays crossed.',
      { type: 'boolean', default: false },
    ),
    ...CONDITIONS,
  ],
  responses: { 200: document('The order book.', 'OrderBook'), ...NOT_FOUND, ...ERRORS },
};

const TRADES = {
  operationId: 'getHistoricalTrades',
  tags: ['market'],
  summary: 'The newest trades of a ticker',
  description:
    "The trades of the blocks, exactly, in CoinGecko's form: through the pools on the chain that have the ticker id, the newest first on each side. They begin with the first block whose trades the gateway knows. The newest blocks are included, and the last three of them can still be replaced. Only pools of the third version of the exchange have trades.",
  parameters: [
    query(
      'ticker_id',
      'A ticker id or a pool id. A ticker id that several pools have means all of them.',
      NON_EMPTY,
      true,
    ),
    query('pool_id', 'Only trades through this pool of the ticker id.', { type: 'string' }),
    query('limit', 'Maximum number of trades, both sides together. 0 means as many as possible.', {
      ...{ type: 'integer', minimum: 0, maximum: MAX_TRADES, default: DEFAULT_TRADES },
    }),
    milliseconds('start_time', 'Only trades of blocks that were made at this time or later.'),
    milliseconds(
      'end_time',
      'Only trades of blocks that were made before this time, which must be after `start_time`.',
    ),
    query('type', 'Only trades whose trader bought, or sold, the base token.', { enum: ['buy', 'sell'] }),
    ...CONDITIONS,
  ],
  responses: { 200: document('The trades.', 'TradeList', 'X-Pdex-Height'), ...NOT_FOUND, ...ERRORS },
};

function candles(maxCandles: number): object {
  const limit = { ...COUNT, maximum: maxCandles, default: Math.min(DEFAULT_CANDLES, maxCandles) };
  const found = document('The candles.', 'CandleList', 'X-Pdex-Height');
  const csv = { schema: { type: 'string', description: 'RFC 4180, with the fields of a candle as its header row.' } };
  return {
    operationId: 'getCandles',
    tags: ['market'],
    summary: 'Candles of a ticker',
    description:
      'Prices and volumes of the pool on the chain, from the recorded history: the last `limit` candles of the range, oldest first. Intervals without a known height are left out. Intervals without an `open` or a `close`, because the pool had an empty side then, are left out too, but count in `limit`. Pairs of the same pool have the same candles.',
    parameters: [
      query('ticker_id', 'A ticker id, or a pool id if several pools have the ticker id.', { type: 'string' }, true),
      query('interval', 'Length of each candle. Intervals are aligned to UTC.', { enum: Object.keys(INTERVALS) }, true),
      seconds('from', 'The earliest `time`.'),
      seconds('to', 'Only candles whose `time` is before it. It must be after `from`.'),
      query('limit', 'Maximum number of candles.', limit),
      query('format', 'By default, the type that `Accept` prefers, else JSON.', { enum: ['json', 'csv'] }),
      ...CONDITIONS,
    ],
    responses: { 200: { ...found, content: { ...found.content, 'text/csv': csv } }, ...NOT_FOUND, ...ERRORS },
  };
}

function udf(
  name: string,
  description: string,
  parameters: readonly object[],
  response: object,
  errors: object = UDF_ERRORS,
) {
  return {
    operationId: `udf${name}`,
    tags: ['udf'],
    description,
    parameters,
    responses: { 200: response, ...errors },
  };
}

const SYMBOL = query('symbol', 'A ticker id or a pool id.', NON_EMPTY, true);
const ANY_OBJECT = { 'application/json': { schema: { type: 'object' } } };
const CACHED = headers('ETag', ...COMMON);
/** Of paths that read nothing. */
const OWN_ERRORS = { 429: ERRORS[429], 500: ERRORS[500] };
const OWN_UDF_ERRORS = { 429: UDF_ERRORS[429], 500: UDF_ERRORS[500] };

/** The Universal Datafeed, by the last segments of the paths. */
const UDF = {
  config: udf(
    'Config',
    'What the datafeed can do: intervals, search, time.',
    [ref('parameters', 'IfNoneMatch')],
    { description: 'The configuration.', headers: CACHED, content: ANY_OBJECT },
    { 304: UDF_ERRORS[304], ...OWN_UDF_ERRORS },
  ),
  time: udf(
    'Time',
    'The clock of the gateway.',
    [],
    { description: 'Whole Unix seconds.', headers: headers(...COMMON), content: { 'text/plain': { schema: {} } } },
    OWN_UDF_ERRORS,
  ),
  symbols: udf(
    'Symbols',
    'One symbol.',
    [SYMBOL, ...CONDITIONS],
    document('The symbol.', 'UdfSymbol', 'X-Pdex-Height'),
  ),
  search: udf(
    'Search',
    'Symbols that have bars, one for each pool of the chain.',
    [
      query('query', 'A part of the ticker id, in any case. By default, all.', { type: 'string' }),
      query('type', 'Only symbols of this type.', { type: 'string' }),
      query('exchange', 'Only symbols of this exchange.', { type: 'string' }),
      query('limit', 'Maximum number of symbols.', { ...COUNT, maximum: MAX_SYMBOLS, default: DEFAULT_SYMBOLS }),
      ...CONDITIONS,
    ],
    document('The symbols.', 'UdfSymbols', 'X-Pdex-Height'),
  ),
  history: udf(
    'History',
    'The bars of a symbol, which are its candles. Candles that are left out because the pool had an empty side count in `countback`.',
    [
      SYMBOL,
      query('resolution', 'Length of each bar: minutes, or a day.', { enum: [...Object.keys(RESOLUTIONS), 'D'] }, true),
      seconds('from', 'The earliest bar. Ignored with `countback`.'),
      seconds('to', 'Only bars that begin before it.', true),
      query('countback', 'Number of bars before `to`. Above the limit, the newest are returned.', {
        ...COUNT,
        maximum: MAX_COUNTBACK,
      }),
      ...CONDITIONS,
    ],
    document('The bars.', 'UdfHistory', 'X-Pdex-Height'),
  ),
};

const OPEN_API = {
  operationId: 'getOpenApi',
  tags: ['description'],
  summary: 'This description',
  description: 'The description of this API in OpenAPI 3.1.',
  parameters: [ref('parameters', 'IfNoneMatch')],
  responses: {
    200: { description: 'The description.', headers: CACHED, content: ANY_OBJECT },
    304: ERRORS[304],
    ...OWN_ERRORS,
  },
};
