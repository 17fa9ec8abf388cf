import { ERROR_CODES } from '../domain/error-codes.ts';

/** A reference to a component of the description. */
export const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

const text = (description: string) => ({ type: 'string', description });
/** A whole number. Without a format, generators of clients make it a number of 32 bits, which is too small for a time. */
export const WHOLE = { type: 'integer', format: 'int64' };
const integer = (description: string) => ({ ...WHOLE, description });
const bool = (description: string) => ({ type: 'boolean', description });
const price = (description: string) => ({ type: 'number', minimum: 0, description });
// The documented formula gives 0 or less for some pools with amounts above 2^53.
const poolPrice = (description: string) => ({ type: 'number', format: 'double', description });
const nullable = (description: string) => ({ type: ['number', 'null'], minimum: 0, description });
const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description });
const column = (description: string) => ({ type: 'array', items: { type: 'number', format: 'double' }, description });
const rows = (item: string, description?: string) => ({ type: 'array', description, items: ref('schemas', item) });

/** An object, of which all fields are required unless the names of those are passed. */
function object(description: string | undefined, properties: object, required = Object.keys(properties)) {
  return { type: 'object', description, required, properties };
}

const TICKER_ID = text(
  'Ticker id, `<base symbol>_<target symbol>`. Not unique: tokens can share a symbol, and two tokens can trade in several pools.',
);
const TOKEN_ID = { type: 'string', pattern: '^[0-9a-f]{64}$' };
const POOL_ID = text('Pool id, which is unique.');
const OK = { message: { type: 'string', const: 'OK', description: 'Status text.' } };

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
  base_currency: text('Symbol of the base token. Symbols of bridged tokens start with `p`.'),
  target_currency: text('Symbol of the target token.'),
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
  high: poolPrice(
    'Highest pool price at the recorded heights of the last 24 hours, in target tokens. Only with a history, and not while the gateway still reads the earlier ones of these hours.',
  ),
  low: poolPrice('Lowest pool price at the same heights, in target tokens. Only together with `high`.'),
  pool_price: poolPrice(
    'Price of one base token in target tokens, from the pool of the ticker on the chain, by the documented formula: with the third version of the exchange the pool that `pool_id` names, and with the first one the pool of the two tokens. The same as `Pair.poolPrice` in GraphQL. Only if the chain has that pool.',
  ),
  liquidity: price(
    'Value of what that pool holds of both tokens together, in whole target tokens at its spot price, with all digits. It is 0 if one side of the pool is empty.',
  ),
  pool_base_volume: price(
    'What was traded through that pool within the last 24 hours, in whole base tokens, exactly: the sum of the trades of the blocks. Only if trades are known, so not with the first version of the exchange.',
  ),
  pool_target_volume: price('The same in whole target tokens.'),
  is_pool_volume_complete: bool(
    'True if the trades of every block of these 24 hours are known. If not, more was traded. Only with the volumes.',
  ),
  pool_last_price: price(
    'Average price of the newest known trade through that pool, in target tokens per base token. The same as `Ticker.tradedPrice` in GraphQL. Only if a trade is known.',
  ),
  liquidity_in_usd: price(
    'Value of what that pool holds of both tokens together, in US dollars. The same as `PoolPair.liquidityUsd` in GraphQL. With the first version of the exchange, tickers of the same two tokens have the same pool: add it once. Only if a route of pools leads to a stable coin.',
  ),
};

/** Codes that the REST API never sends, although they are not named like those of operations. */
const CODES_OF_OPERATIONS = ['ORIGIN_NOT_ALLOWED', 'TRADE_REFUSED'];

/** The codes of errors that the REST API can send. The others are about operations of GraphQL. */
const CODES = Object.keys(ERROR_CODES).filter(
  (code) => !(CODES_OF_OPERATIONS.includes(code) || /^(GRAPHQL|QUERY|PERSISTED|TOO_MANY)_/.test(code)),
);

/** What errors have, in both forms. */
const CODE = { type: 'string', enum: CODES, description: 'For programs: a code never changes its meaning.' };
const WORDS = text('For people: the wording can change.');
const POOL_IDS = texts(
  'Of `AMBIGUOUS_TICKER`: the pool ids to choose from, in place of the ticker id. At most the first 20.',
);

/** What a symbol and a symbol that was found share. */
const UDF_NAMES = {
  ticker: text('What names the symbol in requests: its ticker id, or its pool id.'),
  description: text('The symbols of both tokens, as in `pBTC/PRV`.'),
  type: { type: 'string', const: 'crypto', description: 'The type of all symbols.' },
  exchange: text('The name of the exchange.'),
};

/** The schemas of the documents of the REST API. */
export const SCHEMAS = {
  PairList: object(undefined, { ...OK, pairs: rows('Pair') }),
  Pair: object('Two tokens that trade in one pool.', {
    ...IDS,
    base: text('Symbol of the base token. Symbols of bridged tokens start with `p`.'),
    target: text('Symbol of the target token.'),
  }),
  TickerList: object(undefined, { ...OK, tickers: rows('Ticker') }),
  Ticker: object(
    'Prices and volumes of a pair.',
    { ...DOCUMENTED_TICKER, ...KNOWN_OF_TICKER },
    Object.keys(DOCUMENTED_TICKER),
  ),
  OrderBook: object('The order book of a ticker.', {
    message: text('Status text of the market-data host, normally OK.'),
    ticker_id: TICKER_ID,
    timestamp: {
      ...WHOLE,
      minimum: 0,
      description: "Time of the host's last update of the book, in milliseconds since 1970-01-01T00:00:00Z.",
    },
    bids: rows('Offer', 'Highest price first.'),
    asks: rows('Offer', 'Lowest price first.'),
  }),
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
  CandleList: object(undefined, {
    ...OK,
    ticker_id: TICKER_ID,
    pool_id: POOL_ID,
    interval: text('Length of each candle.'),
    candles: rows('Candle', 'Oldest first.'),
  }),
  Candle: object('Prices and volumes of one interval, from the pool of the pair on the chain.', {
    time: integer('When the interval begins, in seconds since 1970-01-01T00:00:00Z.'),
    open: poolPrice('Price of one base token in target tokens after the first known height of the interval.'),
    high: poolPrice(
      'Highest price of four: `open`, `close`, and the prices after the heights with the highest and the lowest ratio of the reserves.',
    ),
    low: poolPrice('Lowest price of the same four.'),
    close: poolPrice('Price after the last known height of the interval.'),
    volume: price(
      'Traded amount in whole base tokens: exact with `is_volume_exact`, else at least this, because several trades in one block count as their net change.',
    ),
    target_volume: price('The same in whole target tokens.'),
    is_closed: bool('True if the interval is over and final. Only heights that are read later can change the candle.'),
    is_complete: bool('True if every height of the interval so far is known.'),
    is_volume_exact: bool(
      'True if the trades of every block of the interval so far are known. The volumes are their sums.',
    ),
  }),
  TradeList: object('Trades, the newest of each side first.', {
    buy: rows('Trade', 'The trades whose traders bought the base token.'),
    sell: rows('Trade', 'The trades whose traders sold the base token.'),
  }),
  Trade: object('A trade through one pool. A trade along several pools is one trade in each of them.', {
    trade_id: text(
      'Unique: the hash of the transaction that requested the trade, and the place of the pool in its route, from 0. It never changes.',
    ),
    price: price('Average price of one base token in target tokens.'),
    base_volume: price('Amount in whole base tokens, with all digits.'),
    target_volume: price('Amount in whole target tokens, with all digits.'),
    trade_timestamp: integer(
      'When the block was made that records the trade, in milliseconds since 1970-01-01T00:00:00Z.',
    ),
    type: { type: 'string', enum: ['buy', 'sell'], description: 'What the trader did with the base token.' },
  }),
  UdfHistory: object(
    'Bars as columns, oldest first. Without bars, only `s` and possibly `nextTime`.',
    {
      s: { type: 'string', enum: ['ok', 'no_data'], description: 'Whether there are bars.' },
      nextTime: integer('Time of the last interval before `from`, if it has a bar. Not with `countback`.'),
      t: { type: 'array', items: WHOLE, description: 'Times at which the bars begin, in Unix seconds.' },
      o: column('Prices at the beginning.'),
      h: column('Highest prices.'),
      l: column('Lowest prices.'),
      c: column('Prices at the end.'),
      v: column('Volumes in whole base tokens, exact where the trades of all blocks of the bar are known.'),
    },
    ['s'],
  ),
  UdfSymbol: object("A symbol, with the fields of the chart library's `LibrarySymbolInfo`.", {
    name: text('Ticker id.'),
    ...UDF_NAMES,
    listed_exchange: text('The exchange where the symbol is listed: the same as `exchange`.'),
    session: { type: 'string', const: '24x7', description: 'It always trades.' },
    timezone: { type: 'string', const: 'Etc/UTC', description: 'Days begin at 0 h UTC.' },
    minmov: { type: 'integer', const: 1, description: 'Units of the smallest price change.' },
    pricescale: integer('Number of these units in 1: a power of ten.'),
    format: { type: 'string', const: 'price', description: 'Prices are decimal numbers.' },
    currency_code: text('Symbol of the target token.'),
    has_intraday: { type: 'boolean', const: true, description: 'There are bars shorter than a day.' },
    intraday_multipliers: texts('The resolutions below a day.'),
    has_daily: { type: 'boolean', const: true, description: 'There are bars of a day.' },
    has_weekly_and_monthly: {
      type: 'boolean',
      const: false,
      description: 'The chart makes weeks and months from days.',
    },
    supported_resolutions: texts('All resolutions of `/udf/history`.'),
    volume_precision: { ...WHOLE, minimum: 0, description: 'Decimals of volumes.' },
    data_status: { type: 'string', const: 'streaming', description: 'Bars are updated in real time.' },
  }),
  UdfSymbols: {
    type: 'array',
    items: object('A symbol that has bars.', {
      symbol: text('Ticker id.'),
      full_name: text('The exchange and the ticker id, with a colon between them.'),
      ...UDF_NAMES,
    }),
  },
  Error: object('Why there is no document.', { code: CODE, message: WORDS, poolIds: POOL_IDS }, ['code', 'message']),
  UdfError: object(
    'Why there is no document, in the form of the Universal Datafeed.',
    {
      ...{ s: { type: 'string', const: 'error', description: 'It is an error.' }, errmsg: WORDS },
      ...{ code: CODE, poolIds: POOL_IDS },
    },
    ['s', 'errmsg', 'code'],
  ),
};
