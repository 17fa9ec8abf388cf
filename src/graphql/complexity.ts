import { type GraphQLField, getNamedType, getNullableType, isLeafType, isListType } from 'graphql';
import { poolCount, versionOf } from '../domain/exchange.ts';
import type { Market, Pair } from '../domain/market.ts';
import { parseCursor } from '../domain/page.ts';
import { NATIVE_TOKEN_ID } from '../domain/token.ts';
import { DEFAULT_PAGE_SIZE } from '../loaders/arguments.ts';
import { DEFAULT_STEPS } from '../loaders/depth.ts';
import type { PoolPairsArguments } from '../loaders/exchange.ts';
import type { PairFilterInput } from '../loaders/market.ts';
import { DEFAULT_DEPTH, type Depth } from '../loaders/order-book.ts';
import type { PricesArguments } from '../loaders/price-streams.ts';
import { DEFAULT_MAX_HOPS, type QuoteArguments } from '../loaders/quote.ts';
import type { Service } from './context.ts';
import type { Arguments } from './execution/arguments.ts';
import { ASSUMED_LIST_SIZE, MAX_LONG_LIST_SIZE, VALUE } from './limits.ts';

/** What a field adds to the complexity of an operation, in objects. */
export type Complexity = {
  /** Its own objects, and the work to find them. */
  readonly field: number;
  /** How many times its selection counts. */
  readonly multiplier: number;
  /** The length of the lists directly in it, if it is known. */
  readonly entries?: number;
  /** The current length of the list, if it is known. The number of values is estimated from it. */
  readonly actual?: number;
  /** Objects that it adds unless the field that returned its object has read them already. */
  readonly unlessRead?: number;
  /** Whether it has read what `unlessRead` of the fields of its objects counts. */
  readonly hasRead?: boolean;
  /** How many values it is, for a list of scalars. */
  readonly values?: number;
  /** Whether it is a list whose length its parent field may know. */
  readonly isList?: boolean;
};

/** What reading an earlier height counts as, once for an operation. */
export const EARLIER_HEIGHT = 100;

/** What reading a few values of the recorded history counts as. */
const HISTORY = 2;

/** What reading an order book from the market-data host counts as. */
export const ORDER_BOOK = 50;

/** Searching this number of pools for one hop of a quote counts as an object. */
const POOLS_PER_OBJECT = 250;

/** The same for pools of V3, whose search takes longer. */
const POOLS_OF_V3_PER_OBJECT = 50;

/** Number of objects that the pairs of a pool or of a ticker id count as: there are few. */
const ASSUMED_PAIRS = 10;

/** What comparing the prices of all pairs counts as, at most. */
const ALL_PAIRS = 100;

/** What filtering or sorting all pools counts as, at most. */
const ALL_POOLS = 100;

/** Number of objects that the pools of one token count as at most. */
const MAX_POOLS_OF_A_TOKEN_COUNTED = 100;

/** Number of entries that a complete order book counts as, on both sides together. */
const ASSUMED_ENTRIES = 500;

/** The complexity of that many objects, and of the work to find them. A negative number counts as 0, and is refused later. */
export function objects(count: number, work = 0): Complexity {
  const size = Math.max(0, count);
  return { field: size + work, multiplier: size };
}

/**
 * The complexity of a list without a page size: its current length, but at most `max` objects. The entries of a longer list
 * count as values.
 */
export function complexityOfList(actual: number | undefined, max: number = ASSUMED_LIST_SIZE): Complexity {
  return { ...objects(Math.min(max, actual ?? max)), ...(actual !== undefined && { actual }) };
}

/** The number of pools in the current head; `undefined` if there is none yet. */
function poolsNow({ sources }: Service): number | undefined {
  const head = sources.head.current();
  return head && poolCount(head.exchange);
}

/** The complexity of a page of pools: at most the existing pools, and the work of filtering and sorting. */
export function complexityOfPoolPairs(
  { first, last, filter, orderBy, at }: PoolPairsArguments,
  service: Service,
): Complexity {
  const pools = (at == null ? poolsNow(service) : undefined) ?? Number.POSITIVE_INFINITY;
  // Pools are stored in the order of their ids.
  const isMade = filter != null || orderBy === 'NATIVE_LIQUIDITY_DESC';
  const size = sizeOf(first ?? last, DEFAULT_PAGE_SIZE, service.limits.maxPageSize);
  return objects(Math.min(size, pools), isMade ? Math.min(ALL_POOLS, pools) : 1);
}

/** The complexity of the pools of one update, from their current number if there is a head. */
export function complexityOfPrices({ poolPairs, tokenIds }: PricesArguments, service: Service): Complexity {
  if (poolPairs == null && tokenIds == null) return complexityOfList(poolsNow(service), MAX_LONG_LIST_SIZE);
  const named = poolPairs?.length ?? 0;
  const directory = service.sources.head.current()?.exchange.directory;
  let counted = named;
  let actual = named;
  for (const tokenId of tokenIds ?? []) {
    // Nearly every pool contains the native coin.
    const max = tokenId === NATIVE_TOKEN_ID ? MAX_LONG_LIST_SIZE : MAX_POOLS_OF_A_TOKEN_COUNTED;
    const pools = directory === undefined ? max : (directory.placesOfToken.get(tokenId)?.length ?? 0);
    counted += Math.min(max, pools);
    actual += pools;
  }
  return { ...objects(counted), actual };
}

/** The complexity of all tokens: those of the token list and those of the pools. A token of both counts twice. */
export function complexityOfTokens({ sources }: Service): Complexity {
  const inPools = sources.head.current()?.exchange.directory.placesOfToken.size ?? 0;
  return complexityOfList(sources.tokens.current().size + inPools, MAX_LONG_LIST_SIZE);
}

/** The complexity of the pairs or tickers that a filter selects. Only ids in the filter bound their number. */
export function complexityOfPairs(
  filter: PairFilterInput | null | undefined,
  market: Market<Pair> | undefined,
): Complexity {
  const lengths = [
    market?.rows.length,
    filter?.poolIds?.length,
    market && filter?.tickerIds?.reduce((sum, id) => sum + (market.byTickerId.get(id)?.length ?? 0), 0),
  ];
  const known = lengths.filter((length) => length !== undefined);
  return complexityOfList(known.length === 0 ? undefined : Math.min(...known));
}

/** The complexity of the pairs of a ticker id. */
export function complexityOfTicker({ sources }: Service): Complexity {
  return complexityOfFewPairs(sources.market.pairs.current()?.market.mostOfTicker);
}

/** The complexity of the pairs of a pool. A pool of V1 has all pairs of its two tokens, one of V3 those that name it. */
export function complexityOfPairsOfPool({ sources }: Service): Complexity {
  const head = sources.head.current();
  const isV3 = head !== undefined && versionOf(head.exchange) === 'V3';
  return complexityOfFewPairs(isV3 ? 0 : sources.market.pairs.current()?.market.mostOfTokens);
}

/** There are few pairs, but the number of values is estimated from the most that there are. */
function complexityOfFewPairs(most = 0): Complexity {
  return { ...objects(ASSUMED_PAIRS), actual: Math.max(ASSUMED_PAIRS, most) };
}

/** The complexity of a price from a pool: the same as of a field that returns the pool. */
export const POOL_PRICE: Complexity = objects(1);

/** The complexity of an order book of the market-data host. Each of its two sides has half of the depth. */
export function complexityOfOrderBook(depth: Depth): Complexity {
  return { ...complexityOfPoolBook(depth), field: ORDER_BOOK };
}

/** The complexity of the order book of a pool, which is read together with the pool. */
export function complexityOfPoolBook(depth: Depth): Complexity {
  const entries = (depth ?? DEFAULT_DEPTH) || ASSUMED_ENTRIES;
  return { field: 1, multiplier: 1, entries: Math.max(0, entries) / 2 };
}

/** The complexity of a ladder: an order book, and that many levels on each side. */
export function complexityOfLadder(levels: number | null | undefined): Complexity {
  return { field: ORDER_BOOK, multiplier: 1, entries: Math.max(0, levels ?? DEFAULT_STEPS.levels) };
}

/** The number of pools that count if it is not known. */
const ASSUMED_POOLS = 10_000;

/** The complexity of a quote: the pools of its route, and for each of them the search through all pools unless the route is an argument. */
export function complexityOfQuote(
  { maxHops, route }: Pick<QuoteArguments, 'maxHops' | 'route'>,
  service: Service,
): Complexity {
  const hops = route?.length ?? maxHops ?? DEFAULT_MAX_HOPS;
  const head = service.sources.head.current();
  const perObject = head && versionOf(head.exchange) === 'V3' ? POOLS_OF_V3_PER_OBJECT : POOLS_PER_OBJECT;
  const search = route != null ? hops : hops * Math.ceil((poolsNow(service) ?? ASSUMED_POOLS) / perObject);
  return { ...objects(1, search), entries: hops };
}

/** The complexity of the divergence of a pair. It reads an order book, but not in a list by divergence. */
export const DIVERGENCE: Complexity = { field: 1, multiplier: 1, unlessRead: ORDER_BOOK };

/** The complexity of a list of pairs by divergence: at most the existing pairs, and the work of comparing all. */
export function complexityOfDivergentPairs(first: number | null | undefined, { sources }: Service): Complexity {
  const pairs = sources.market.pairs.current()?.market.rows.length ?? ASSUMED_LIST_SIZE;
  return { ...objects(Math.min(first ?? DEFAULT_PAGE_SIZE, pairs), Math.min(ALL_PAIRS, pairs)), hasRead: true };
}

/** The complexity of a search for the height at a time: it reads a few earlier heights. */
export const HEIGHT_AT_A_TIME: Complexity = { field: 5 * EARLIER_HEIGHT, multiplier: 0 };

/** How many objects a list counts as. A size above the maximum is refused later, as its own error. */
export function sizeOf(size: number | null | undefined, byDefault: number, max: number): number {
  return Math.min(size ?? byDefault, max);
}

/** The complexity of that many objects of the recorded history. */
export function recordedObjects(count: number): Complexity {
  return objects(count, HISTORY);
}

/** The complexity of that many values of the recorded history. */
export function recordedValues(count: number): Complexity {
  const values = Math.max(0, count);
  return { field: HISTORY + values * VALUE, multiplier: 0, values };
}

/** The complexity of a scalar or an enum. */
const ONE_VALUE: Complexity = { field: VALUE, multiplier: 0 };

/** The complexity of a field that declares none: that of a value, of an object, or of a list of unknown length. */
export function estimateField(field: GraphQLField<unknown, unknown>): Complexity {
  if (isLeafType(getNamedType(field.type))) return ONE_VALUE;
  return { field: 1, multiplier: 1, isList: isListType(getNullableType(field.type)) };
}

/** Finds the beacon heights in the value of an argument. What it returns besides numbers does not count. */
type FindHeights = (value: unknown) => readonly unknown[];

/** The extensions of an argument that names beacon heights. The cost of an operation counts them. */
type NamesHeights = { readonly findHeights: FindHeights };

/** Of an argument that is a height. */
export const IS_HEIGHT: NamesHeights = { findHeights: (value) => [value] };

/** Of an argument that is a cursor. */
export const IS_CURSOR: NamesHeights = { findHeights: (value) => [parseCursor(String(value))?.beaconHeight] };

/** Of an argument that is an id for `node`, or a list of them: the id of a pool can end with `@<height>`. */
export const IS_NODE_ID: NamesHeights = {
  findHeights: (value) => [value].flat().flatMap((id) => /@(\d+)$/.exec(String(id))?.slice(1).map(Number) ?? []),
};

/** Finds the heights that the arguments of a field name; `undefined` for a field none of whose arguments can. */
export function heightFinderOf({ args }: GraphQLField<unknown, unknown>) {
  const finders = args.flatMap(({ name, extensions }) => {
    const find = extensions['findHeights'] as FindHeights | undefined;
    return find === undefined ? [] : [{ name, find }];
  });
  if (finders.length === 0) return undefined;
  return (values: Arguments): readonly number[] =>
    finders
      .flatMap(({ name, find }) => (values[name] == null ? [] : find(values[name])))
      .filter((height) => typeof height === 'number');
}
