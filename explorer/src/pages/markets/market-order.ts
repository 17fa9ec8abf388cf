import type { Unit } from '../../app/unit.ts';
import { nameOfToken, percentOf } from '../../format/prices.ts';
import type { SortDirection } from '../../parts/sort-header.tsx';
import { type MarketRow, searchable } from './market-rows.ts';

/** The columns by which the list can be sorted. */
export const MARKET_SORTS = ['name', 'price', 'change', 'volume', 'liquidity'] as const;
export type MarketSort = (typeof MARKET_SORTS)[number];

const NAMES = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

/** The price of a row in US dollars: target tokens per base token, at what a target token is worth. */
export function usdPriceOf(price: number | null, targetUsd: number | null | undefined): number | null {
  return price === null || targetUsd == null ? null : price * targetUsd;
}

const numberOf = {
  price: ({ price, targetUsd }, unit) => (unit === 'USD' ? usdPriceOf(price, targetUsd) : price),
  change: ({ price, dayStart }) => percentOf(price, dayStart),
  volume: ({ volume }) => volume,
  liquidity: ({ liquidity }) => liquidity,
} satisfies Record<Exclude<MarketSort, 'name'>, (row: MarketRow, unit: Unit) => number | null>;

/**
 * The rows in which each word of the search is found: a part of a symbol or ticker id, such as BTC-PRV, a token or pool id, or the
 * beginning of a word of a name.
 */
export function searchRows(rows: readonly MarketRow[], search: string): readonly MarketRow[] {
  const words = searchable(search).split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter(({ searched }) => {
    const { text, names } = searched();
    return words.every((word) => text.includes(word) || names.some((name) => name.startsWith(word)));
  });
}

/**
 * The rows in an order, with the unit of the prices by which they are sorted. Rows without a value come last. Updates move no row:
 * its values are those of the list.
 */
export function sortRows(
  rows: readonly MarketRow[],
  sort: MarketSort,
  direction: SortDirection,
  unit: Unit = 'PRV',
): readonly MarketRow[] {
  const sign = direction === 'ascending' ? 1 : -1;
  if (sort === 'name') return rows.toSorted((a, b) => byName(a, b, sign));
  const read = numberOf[sort];
  return rows
    .map((row) => ({ row, value: read(row, unit) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null)
        return a.value === b.value ? byName(a.row, b.row, 1) : a.value === null ? 1 : -1;
      return sign * (a.value - b.value) || byName(a.row, b.row, 1);
    })
    .map(({ row }) => row);
}

/** By base, then by target. Tokens without a symbol come last in each order. */
function byName(a: MarketRow, b: MarketRow, sign: number): number {
  return compareTokens(a.base, b.base, sign) || compareTokens(a.target, b.target, sign) || (a.key < b.key ? -1 : 1);
}

function compareTokens(a: MarketRow['base'], b: MarketRow['base'], sign: number): number {
  if ((a.symbol === null) !== (b.symbol === null)) return a.symbol === null ? 1 : -1;
  return sign * NAMES.compare(nameOfToken(a), nameOfToken(b));
}
