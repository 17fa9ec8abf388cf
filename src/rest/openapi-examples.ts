const BASE = 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696';
const TARGET = '0000000000000000000000000000000000000000000000000000000000000004';

const IDS = {
  ticker_id: 'pBTC_PRV',
  base_id: BASE,
  target_id: TARGET,
  pool_id: `${TARGET}-${BASE}-4a2d5b7d3a0f4f7f3d35d0c5b4d3f5f7a9c1d7a0b8e3c9f2e6d4b1a8c7f05e13`,
};

/** An example of each document. */
export const EXAMPLES = {
  pairs: { message: 'OK', pairs: [{ ...IDS, base: 'pBTC', target: 'PRV' }] },
  tickers: {
    message: 'OK',
    tickers: [
      {
        ...IDS,
        base_currency: 'pBTC',
        target_currency: 'PRV',
        last_price: 11603.98686742443,
        base_volume: 42.94792892,
        target_volume: 498367.2,
        bid: 11536.3,
        ask: 11605.7,
        high: 11871.4,
        low: 11390.2,
        pool_price: 11543.17094387,
        liquidity: 3838481.260490884,
        liquidity_in_usd: 4950000.4,
      },
    ],
  },
  orderBook: {
    message: 'OK',
    ticker_id: 'pBTC_PRV',
    timestamp: 1767225600000,
    bids: [
      [11536.3, 0.25],
      [11530.1, 1.5],
    ],
    asks: [
      [11605.7, 0.4],
      [11612.9, 2],
    ],
  },
};

const CANDLE = { time: 1767225600, open: 11603.9, high: 11871.4, low: 11590.2, close: 11733.5 };

/** An example of each document of candles. */
export const CHART_EXAMPLES = {
  candles: {
    message: 'OK',
    ticker_id: 'pBTC_PRV',
    pool_id: IDS.pool_id,
    interval: '1h',
    candles: [{ ...CANDLE, volume: 1.25, target_volume: 14600.5, is_closed: true, is_complete: true }],
  },
  history: { s: 'ok', t: [1767225600], o: [11603.9], h: [11871.4], l: [11590.2], c: [11733.5], v: [1.25] },
  symbol: { name: 'pBTC_PRV', ticker: 'pBTC_PRV', session: '24x7', timezone: 'Etc/UTC', minmov: 1, pricescale: 100 },
  symbols: [
    {
      symbol: 'pBTC_PRV',
      full_name: 'pDEX:pBTC_PRV',
      ticker: 'pBTC_PRV',
      description: 'pBTC/PRV',
      exchange: 'pDEX',
      type: 'crypto',
    },
  ],
};

/** An example of the message of each error. */
export const ERROR_EXAMPLES = {
  BAD_USER_INPUT: 'depth is "-1". It must be 0 (the complete book) or a whole number of entries, both sides together.',
  NOT_FOUND: 'Ticker "pXYZ_PRV" does not exist.',
  HISTORY_UNAVAILABLE: 'The recorded history cannot be read now.',
  HEIGHT_NOT_AVAILABLE:
    'The gateway did not reach the minimum height 1640007 within 10000 ms. Its newest height is 1640000.',
  RATE_LIMITED: 'This client address exceeds the rate limit. Retry in 420 ms.',
  INTERNAL_SERVER_ERROR: 'An internal error occurred in the gateway.',
  UPSTREAM_UNREACHABLE: 'The market-data host cannot be reached.',
  UPSTREAM_NOT_CONFIGURED: 'The market-data host is not configured.',
};
