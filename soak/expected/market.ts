import { isDeepStrictEqual } from 'node:util';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import type { ChainMarket } from '../../src/sandbox/chain/markets.ts';
import { figuresOf } from '../../src/sandbox/chain/tickers.ts';
import { marketSymbol } from '../../src/sandbox/chain/tokens.ts';
import { tickersResponse } from '../../src/sandbox/market-data/responses.ts';

/** The fields of a ticker that are requested, in the order of the response. */
export const TICKER_FIELDS =
  'poolId tickerId baseId targetId baseCurrency targetCurrency lastPrice baseVolume targetVolume';

/** The fields of a pair that are requested. */
export const PAIR_FIELDS = 'poolId tickerId baseId targetId base target';

/** An expected ticker. */
export type TickerRow = Readonly<Record<string, string | number | null>>;

/** The expected tickers at the tip, in the order of the host. */
export function expectedTickers(chain: Chain): readonly TickerRow[] {
  const { tickers } = tickersResponse(chain.markets, figuresOf(chain));
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

/** The expected pairs, which never change, in the order of the host. */
export function expectedPairs(chain: Chain): readonly TickerRow[] {
  return chain.markets.map((market) => ({
    poolId: market.poolId,
    tickerId: market.tickerId,
    baseId: market.base.id,
    targetId: market.target.id,
    base: marketSymbol(market.base),
    target: marketSymbol(market.target),
  }));
}

/** The markets with a unique ticker id, which have an order book. */
export function marketsWithBook(chain: Chain): readonly ChainMarket[] {
  const byTicker = Map.groupBy(chain.markets, ({ tickerId }) => tickerId);
  return chain.markets.filter(({ tickerId }) => byTicker.get(tickerId)?.length === 1);
}

/**
 * The mismatch of a field that is never null without an error. A field that failed for a known cause is `undefined`: its check is not
 * given it.
 */
export function fieldMismatch<Value>(
  value: Value | null | undefined,
  what: string,
  compare: (value: Value) => string | undefined,
): string | undefined {
  if (value === undefined) return undefined;
  return value === null ? `${what} is null without an error` : compare(value);
}

/** The first difference between two lists; `undefined` if they are equal. */
export function listMismatch(
  actual: readonly unknown[],
  expected: readonly unknown[],
  what: string,
): string | undefined {
  if (actual.length !== expected.length) return `${actual.length} ${what} instead of ${expected.length}`;
  const index = actual.findIndex((row, at) => !isDeepStrictEqual(row, expected[at]));
  if (index < 0) return undefined;
  return `${what}[${index}] is ${JSON.stringify(actual[index])} instead of ${JSON.stringify(expected[index])}`;
}
