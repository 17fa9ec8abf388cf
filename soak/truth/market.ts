import { isDeepStrictEqual } from 'node:util';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import type { ChainMarket } from '../../src/sandbox/chain/markets.ts';
import { figuresOf } from '../../src/sandbox/chain/tickers.ts';
import { marketSymbol } from '../../src/sandbox/chain/tokens.ts';
import { tickersAnswer } from '../../src/sandbox/market-data/answers.ts';

/** What is asked of a ticker, and in this order told. */
export const TICKER_FIELDS =
  'poolId tickerId baseId targetId baseCurrency targetCurrency lastPrice baseVolume targetVolume';

/** What is asked of a pair. */
export const PAIR_FIELDS = 'poolId tickerId baseId targetId base target';

/** A ticker as the gateway is to tell it. */
export type TickerRow = Readonly<Record<string, string | number | null>>;

/** The tickers of a chain's tip, in the host's order. */
export function tickersOf(chain: Chain): readonly TickerRow[] {
  const { tickers } = tickersAnswer(chain.markets, figuresOf(chain));
  return tickers.map((ticker) => ({
    poolId: ticker.pool_id,
    tickerId: ticker.ticker_id,
    baseId: ticker.base_id,
    targetId: ticker.target_id,
    baseCurrency: ticker.base_currency,
    targetCurrency: ticker.target_currency,
    lastPrice: ticker.last_price ?? null,
    baseVolume: ticker.base_volume ?? null,
    targetVolume: ticker.target_volume ?? null,
  }));
}

/** The pairs of a chain, which never change, in the host's order. */
export function pairsOf(chain: Chain): readonly TickerRow[] {
  return chain.markets.map((market) => ({
    poolId: market.poolId,
    tickerId: market.tickerId,
    baseId: market.base.id,
    targetId: market.target.id,
    base: marketSymbol(market.base),
    target: marketSymbol(market.target),
  }));
}

/** The markets whose ticker id names them alone, and which have a book. */
export function marketsWithBook(chain: Chain): readonly ChainMarket[] {
  const byTicker = Map.groupBy(chain.markets, ({ tickerId }) => tickerId);
  return chain.markets.filter(({ tickerId }) => byTicker.get(tickerId)?.length === 1);
}

/** What tells two lists apart: the first row that differs. */
export function listMisfit(told: readonly unknown[], expected: readonly unknown[], what: string): string | undefined {
  if (told.length !== expected.length) return `${told.length} ${what} instead of ${expected.length}`;
  const place = told.findIndex((row, index) => !isDeepStrictEqual(row, expected[index]));
  if (place < 0) return undefined;
  return `${what}[${place}] is ${JSON.stringify(told[place])} instead of ${JSON.stringify(expected[place])}`;
}
