import { isDeepStrictEqual } from 'node:util';
import { tickersAnswer } from '../../src/sandbox/market-data/answers.ts';
import type { WorldMarket } from '../../src/sandbox/world/markets.ts';
import { figuresOf } from '../../src/sandbox/world/tickers.ts';
import { marketSymbol } from '../../src/sandbox/world/tokens.ts';
import type { World } from '../../src/sandbox/world/world.ts';

/** What is asked of a ticker, and in this order told. */
export const TICKER_FIELDS =
  'poolId tickerId baseId targetId baseCurrency targetCurrency lastPrice baseVolume targetVolume';

/** What is asked of a pair. */
export const PAIR_FIELDS = 'poolId tickerId baseId targetId base target';

/** A ticker as the gateway is to tell it. */
export type TickerRow = Readonly<Record<string, string | number | null>>;

/** The tickers of a world's tip, in the host's order. */
export function tickersOf(world: World): readonly TickerRow[] {
  const { tickers } = tickersAnswer(world.markets, figuresOf(world));
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

/** The pairs of a world, which never change, in the host's order. */
export function pairsOf(world: World): readonly TickerRow[] {
  return world.markets.map((market) => ({
    poolId: market.poolId,
    tickerId: market.tickerId,
    baseId: market.base.id,
    targetId: market.target.id,
    base: marketSymbol(market.base),
    target: marketSymbol(market.target),
  }));
}

/** The markets whose ticker id names them alone, and which have a book. */
export function marketsWithBook(world: World): readonly WorldMarket[] {
  const byTicker = Map.groupBy(world.markets, ({ tickerId }) => tickerId);
  return world.markets.filter(({ tickerId }) => byTicker.get(tickerId)?.length === 1);
}

/** What tells two lists apart: the first row that differs. */
export function listMisfit(told: readonly unknown[], expected: readonly unknown[], what: string): string | undefined {
  if (told.length !== expected.length) return `${told.length} ${what} instead of ${expected.length}`;
  const place = told.findIndex((row, index) => !isDeepStrictEqual(row, expected[index]));
  if (place < 0) return undefined;
  return `${what}[${place}] is ${JSON.stringify(told[place])} instead of ${JSON.stringify(expected[place])}`;
}
