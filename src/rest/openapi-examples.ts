const BASE = 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696';
const TARGET = '0000000000000000000000000000000000000000000000000000000000000004';
const POOL = `${TARGET}-${BASE}-4a2d5b7d3a0f4f7f3d35d0c5b4d3f5f7a9c1d7a0b8e3c9f2e6d4b1a8c7f05e13`;
const TICKER = 'pBTC_PRV';
const SAME_IDS = { ticker_id: TICKER, base_id: BASE, target_id: TARGET, pool_id: POOL };
const TIME = 1767225600;

/** An example of each document, by its schema. */
export const EXAMPLES = {
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
  UdfSymbol: { name: TICKER, ticker: TICKER, session: '24x7', timezone: 'Etc/UTC', minmov: 1, pricescale: 100 },
  UdfSymbols: [
    {
      ...{ symbol: TICKER, full_name: `pDEX:${TICKER}`, ticker: TICKER },
      ...{ description: 'pBTC/PRV', exchange: 'pDEX', type: 'crypto' },
    },
  ],
};
