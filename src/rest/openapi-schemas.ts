import { ERROR_CODES } from '../errors.ts';

const price = (description: string) => ({ type: 'number', minimum: 0, description });
const nullable = (description: string) => ({ type: ['number', 'null'], minimum: 0, description });

const TICKER_ID = {
  type: 'string',
  description:
    'Ticker id, `<base symbol>_<target symbol>`. Not unique: tokens can share a symbol, and two tokens can trade in several pools.',
};
const TOKEN_ID = { type: 'string', pattern: '^[0-9a-f]{64}$' };
const POOL_ID = { type: 'string', description: 'Pool id, which is unique.' };
const MESSAGE = { type: 'string', description: 'Status text of the market-data host, normally OK.' };

/** The ids that pairs and tickers share. */
const IDS = {
  ticker_id: TICKER_ID,
  base_id: { ...TOKEN_ID, description: 'Id of the base token, which is the token that has the price.' },
  target_id: { ...TOKEN_ID, description: 'Id of the target token, which is the token that prices are quoted in.' },
  pool_id: POOL_ID,
};

/** The documented fields are in every document. All other fields are left out if they are not known. */
const DOCUMENTED_TICKER = {
  ...IDS,
  base_currency: { type: 'string', description: 'Symbol of the base token. Symbols of bridged tokens start with `p`.' },
  target_currency: { type: 'string', description: 'Symbol of the target token.' },
  last_price: nullable('Price of one base token in target tokens in the last trade. Null if the host sends none.'),
  base_volume: nullable('Traded volume of the last 24 hours, in whole base tokens. Null if the host sends none.'),
  target_volume: nullable('Traded volume of the last 24 hours, in whole target tokens. Null if the host sends none.'),
};

const KNOWN_OF_TICKER = {
  bid: price(
    'Highest bid of the order book. The gateway reads the books in turn. Only if the book has bids, and was read recently.',
  ),
  ask: price(
    'Lowest ask of the order book. Below `bid` if the book is crossed. Only if the book has asks, and was read recently.',
  ),
  high: price(
    'Highest pool price at the recorded heights of the last 24 hours, in target tokens. Only with a history.',
  ),
  low: price('Lowest pool price at the recorded heights of the last 24 hours, in target tokens. Only with a history.'),
  pool_price: price(
    'Price of one base token in target tokens, from the pool of the two tokens on the chain, by the documented formula. The same as `Pair.poolPrice` in GraphQL.',
  ),
  liquidity: price('Value of both sides of that pool together, in whole target tokens, with all digits.'),
  liquidity_in_usd: price(
    'Value of both reserves of that pool together, in US dollars. The same as `PoolPair.liquidityUsd` in GraphQL. Tickers of the same two tokens have the same pool: add it once. Only if a route of pools leads to a stable coin.',
  ),
};

const PAIR = {
  ...IDS,
  base: { type: 'string', description: 'Symbol of the base token. Symbols of bridged tokens start with `p`.' },
  target: { type: 'string', description: 'Symbol of the target token.' },
};

const CANDLE = {
  time: { type: 'integer', description: 'When the interval begins, in seconds since 1970-01-01T00:00:00Z.' },
  open: price('Price of one base token in target tokens after the first known height of the interval.'),
  high: price('Highest price.'),
  low: price('Lowest price.'),
  close: price('Price after the last known height of the interval.'),
  volume: price('Traded amount in whole base tokens, at least: several trades in one block count as their net change.'),
  target_volume: price('Traded amount in whole target tokens, at least.'),
  is_closed: {
    type: 'boolean',
    description: 'True if the interval is over and final. Only heights that are read later can change the candle.',
  },
  is_complete: { type: 'boolean', description: 'True if every height of the interval so far is known.' },
};

/** Codes that the REST API never sends, although they are not named like those of operations. */
const CODES_OF_OPERATIONS = ['ORIGIN_NOT_ALLOWED', 'UPSTREAM_RPC_ERROR'];

/** The codes of errors that the REST API can send. The others are about operations of GraphQL. */
const CODES = Object.keys(ERROR_CODES).filter(
  (code) => !(CODES_OF_OPERATIONS.includes(code) || /^(GRAPHQL|QUERY|PERSISTED|TOO_MANY)_/.test(code)),
);

/** The schemas of the documents of the REST API. */
export const SCHEMAS = {
  PairList: list('pairs', 'Pair'),
  Pair: {
    type: 'object',
    description: 'Two tokens that trade in one pool.',
    required: Object.keys(PAIR),
    properties: PAIR,
  },
  TickerList: list('tickers', 'Ticker'),
  Ticker: {
    type: 'object',
    description: 'Prices and volumes of a pair.',
    required: Object.keys(DOCUMENTED_TICKER),
    properties: { ...DOCUMENTED_TICKER, ...KNOWN_OF_TICKER },
  },
  OrderBook: {
    type: 'object',
    description: 'The order book of a ticker.',
    required: ['message', 'ticker_id', 'timestamp', 'bids', 'asks'],
    properties: {
      message: MESSAGE,
      ticker_id: TICKER_ID,
      timestamp: {
        type: 'integer',
        minimum: 0,
        description: "Time of the host's last update of the book, in milliseconds since 1970-01-01T00:00:00Z.",
      },
      bids: { type: 'array', description: 'Highest price first.', items: { $ref: '#/components/schemas/Offer' } },
      asks: { type: 'array', description: 'Lowest price first.', items: { $ref: '#/components/schemas/Offer' } },
    },
  },
  Offer: {
    type: 'array',
    description:
      'Price in target tokens per base token, and quantity in whole base tokens. Entries with the same price are merged.',
    prefixItems: [
      { type: 'number', description: 'Price.' },
      { type: 'number', description: 'Quantity.' },
    ],
    items: false,
    minItems: 2,
  },
  CandleList: {
    type: 'object',
    required: ['message', 'ticker_id', 'pool_id', 'interval', 'candles'],
    properties: {
      message: MESSAGE,
      ticker_id: TICKER_ID,
      pool_id: POOL_ID,
      interval: { type: 'string', description: 'Length of each candle.' },
      candles: { type: 'array', description: 'Oldest first.', items: { $ref: '#/components/schemas/Candle' } },
    },
  },
  Candle: {
    type: 'object',
    description: 'Prices and volumes of one interval, from the pool of the two tokens on the chain.',
    required: Object.keys(CANDLE),
    properties: CANDLE,
  },
  UdfHistory: {
    type: 'object',
    description: 'Bars as columns, oldest first. Without bars, only `s` and possibly `nextTime`.',
    required: ['s'],
    properties: {
      s: { type: 'string', enum: ['ok', 'no_data'], description: 'Whether there are bars.' },
      nextTime: { type: 'integer', description: 'Time of the newest bar before the range, if there is one.' },
      t: column('Times at which the bars begin, in Unix seconds.'),
      o: column('Prices at the beginning.'),
      h: column('Highest prices.'),
      l: column('Lowest prices.'),
      c: column('Prices at the end.'),
      v: column('Volumes in whole base tokens.'),
    },
  },
  UdfSymbol: {
    type: 'object',
    description: "A symbol, with the fields of the chart library's `LibrarySymbolInfo`.",
    required: ['name', 'ticker', 'session', 'timezone', 'minmov', 'pricescale'],
    properties: {
      name: { type: 'string', description: 'Ticker id.' },
      ticker: { type: 'string', description: 'What names the symbol in requests: its ticker id, or its pool id.' },
      session: { type: 'string', const: '24x7', description: 'It always trades.' },
      timezone: { type: 'string', const: 'Etc/UTC', description: 'Days begin at 0 h UTC.' },
      minmov: { type: 'integer', const: 1, description: 'Units of the smallest price change.' },
      pricescale: { type: 'integer', description: 'Number of these units in 1: a power of ten.' },
    },
  },
  UdfSymbols: {
    type: 'array',
    items: {
      type: 'object',
      description: 'A symbol that has bars.',
      required: ['symbol', 'full_name', 'description', 'exchange', 'ticker', 'type'],
    },
  },
  Error: {
    type: 'object',
    description: 'Why there is no document.',
    required: ['code', 'message'],
    properties: {
      code: { type: 'string', enum: CODES, description: 'For programs: a code never changes its meaning.' },
      message: { type: 'string', description: 'For people: the wording can change.' },
    },
  },
};

function column(description: string) {
  return { type: 'array', items: { type: 'number' }, description };
}

function list(name: string, item: string) {
  return {
    type: 'object',
    required: ['message', name],
    properties: {
      message: { type: 'string', const: 'OK', description: 'Status text.' },
      [name]: { type: 'array', items: { $ref: `#/components/schemas/${item}` } },
    },
  };
}
