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

/** An example of the message of each error. */
export const ERROR_EXAMPLES = {
  BAD_USER_INPUT: 'depth is "-1". It must be 0 (the complete book) or a whole number of entries, both sides together.',
  NOT_FOUND: 'Ticker "pXYZ_PRV" does not exist.',
  HEIGHT_NOT_AVAILABLE:
    'The gateway did not reach the minimum height 1640007 within 10000 ms. Its newest height is 1640000.',
  RATE_LIMITED: 'This client address exceeds the rate limit. Retry in 420 ms.',
  INTERNAL_SERVER_ERROR: 'An internal error occurred in the gateway.',
  UPSTREAM_UNREACHABLE: 'The market-data host cannot be reached.',
  UPSTREAM_NOT_CONFIGURED: 'The market-data host is not configured.',
};
