import type { Unit } from '../../app/unit.ts';
import { nameOfToken } from '../../format/prices.ts';
import { namesOfSymbol } from '../../format/token-names.ts';
import type { SortDirection } from '../../parts/sort-header.tsx';
import type { TokenRowFragment } from './tokens.generated.ts';

/** The columns by which the list can be sorted. */
export const TOKEN_SORTS = ['name', 'price', 'pools', 'decimals'] as const;
export type TokenSort = (typeof TOKEN_SORTS)[number];

const NAMES = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

const numberOf = {
  price: (token, unit) => priceIn(unit, token),
  pools: ({ poolCount }) => poolCount,
  decimals: ({ decimals }) => decimals,
} satisfies Record<Exclude<TokenSort, 'name'>, (token: TokenRowFragment, unit: Unit) => number | null>;

/** The price of a token in a unit; null if it has none. */
export function priceIn(unit: Unit, { nativePrice, usdPrice }: TokenRowFragment): number | null {
  return unit === 'USD' ? usdPrice : nativePrice;
}

/** A token, as far as a search looks at it. */
type SearchedToken = { readonly tokenId: string; readonly symbol: string | null };

/** The tokens whose symbol contains the text, or whose id or a word of whose name begins with it. */
export function findTokens<Token extends SearchedToken>(tokens: readonly Token[], search: string): Token[] {
  const wanted = search.trim().toLowerCase();
  return tokens.filter(
    ({ symbol, tokenId }) =>
      symbol?.toLowerCase().includes(wanted) ||
      tokenId.startsWith(wanted) ||
      namesOfSymbol(symbol).some((name) => name.startsWith(wanted)),
  );
}

type ListOptions = {
  readonly search: string;
  readonly sort: TokenSort;
  readonly direction: SortDirection;
  /** Of the prices by which they are sorted. */
  readonly unit?: Unit;
};

/** The tokens that a search finds, in an order. Tokens without a value come last. */
export function listTokens(
  tokens: readonly TokenRowFragment[],
  { search, sort, direction, unit = 'PRV' }: ListOptions,
): readonly TokenRowFragment[] {
  const found = findTokens(tokens, search);
  const sign = direction === 'ascending' ? 1 : -1;
  return found.sort((a, b) => sign * compare(a, b, sort, sign, unit) || byName(a, b));
}

function compare(a: TokenRowFragment, b: TokenRowFragment, sort: TokenSort, sign: number, unit: Unit): number {
  if (sort === 'name') return byName(a, b, sign);
  const [first, second] = [numberOf[sort](a, unit), numberOf[sort](b, unit)];
  if (first === null || second === null) return first === second ? 0 : first === null ? sign : -sign;
  return first - second;
}

/** Tokens without a symbol come after all others in each order, by their ids. */
function byName(a: TokenRowFragment, b: TokenRowFragment, sign = 1): number {
  if ((a.symbol === null) !== (b.symbol === null)) return a.symbol === null ? sign : -sign;
  return NAMES.compare(nameOfToken(a), nameOfToken(b)) || NAMES.compare(a.tokenId, b.tokenId);
}
