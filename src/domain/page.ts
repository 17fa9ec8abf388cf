import { hash } from 'node:crypto';
import { type BeaconHeight, parseBeaconHeight } from './beacon-height.ts';
import { firstIndexWhere } from './binary-search.ts';
import { isTradable, nativeLiquidity, type PoolPair, poolPairId } from './pool-pair.ts';
import type { TradePlace } from './trade.ts';

/** In a cursor, an order is its place in this list. */
const ORDERS = ['ID_ASC', 'ID_DESC', 'NATIVE_LIQUIDITY_DESC', 'NON_EMPTY_FIRST'] as const;

/**
 * `NATIVE_LIQUIDITY_DESC`: descending by what they hold of the native coin; pools without it last, by id.
 * `NON_EMPTY_FIRST`: by id; pools with an empty side last, by id.
 */
export type PoolPairOrder = (typeof ORDERS)[number];

/** The sort key of a pool in all orders. */
export type PoolPairPosition = {
  readonly id: string;
  readonly nativeLiquidity: bigint | undefined;
  /** Whether it does not hold one of its tokens. */
  readonly isEmpty: boolean;
};

/** Which part of a list a client requests: the first `size` entries after `after` and before `before`, or the last ones. */
export type PageRequest = {
  readonly after?: PoolPairPosition | undefined;
  readonly before?: PoolPairPosition | undefined;
  readonly size: number;
  /** Whether the last entries are requested. */
  readonly fromEnd: boolean;
};

/** A part of a list, and whether there are entries before and after it. */
export type Page<T> = {
  readonly items: readonly T[];
  readonly totalCount: number;
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
};

/** The sort key of that pool. */
export function positionOf(pool: PoolPair): PoolPairPosition {
  return { id: poolPairId(pool), nativeLiquidity: nativeLiquidity(pool), isEmpty: !isTradable(pool) };
}

/**
 * Negative if the first position comes before the second, 0 if they are the same, else positive.
 *
 * In `NATIVE_LIQUIDITY_DESC`, pools that hold the same and those without the native coin are in order of their ids.
 */
export function comparePositions(a: PoolPairPosition, b: PoolPairPosition, order: PoolPairOrder): number {
  const byId = a.id < b.id ? -1 : Number(a.id > b.id);
  if (order === 'ID_ASC') return byId;
  if (order === 'ID_DESC') return -byId;
  if (order === 'NON_EMPTY_FIRST') return Number(a.isEmpty) - Number(b.isEmpty) || byId;

  const left = a.nativeLiquidity ?? -1n;
  const right = b.nativeLiquidity ?? -1n;
  if (left === right) return byId;
  return left > right ? -1 : 1;
}

/** Cuts a page out of a list of pools or of their places. The list is in that order, and need not contain the pools of the positions. */
export function cutPage<T>(
  list: readonly T[],
  positionIn: (entry: T) => PoolPairPosition,
  { after, before, size, fromEnd }: PageRequest,
  order: PoolPairOrder,
): Page<T> {
  const firstFrom = (position: PoolPairPosition, atLeast: 0 | 1) =>
    firstIndexWhere(list.length, (index) => comparePositions(positionIn(list[index] as T), position, order) >= atLeast);

  const low = after === undefined ? 0 : firstFrom(after, 1);
  const high = before === undefined ? list.length : Math.max(low, firstFrom(before, 0));
  const start = fromEnd ? Math.max(low, high - size) : low;
  const end = fromEnd ? high : Math.min(high, low + size);

  return {
    items: list.slice(start, end),
    totalCount: list.length,
    hasNextPage: end < list.length,
    hasPreviousPage: start > 0,
  };
}

/** A position in a list of pools. Height, filter and order identify the list, the sort key of a pool the position. */
export type Cursor = {
  readonly beaconHeight: BeaconHeight;
  /** From {@link filterFingerprint}. */
  readonly filter: string;
  readonly order: PoolPairOrder;
  readonly position: PoolPairPosition;
};

/** The end of the cursor of a pool with an empty side. */
const EMPTY = 'e';

/** Writes a cursor as an opaque string. */
export function formatCursor({ beaconHeight, filter, order, position }: Cursor): string {
  const { id, nativeLiquidity, isEmpty } = position;
  const liquidity = `${nativeLiquidity ?? ''}${isEmpty ? EMPTY : ''}`;
  const parts = [beaconHeight, filter, ORDERS.indexOf(order), id, liquidity];
  return Buffer.from(parts.join(':')).toString('base64url');
}

const PARTS = /^(\d{1,16}):([\w-]{11}):([0-3]):([0-9a-f]{64}(?:-[0-9a-f]{64}){1,2}):(\d{0,20})(e?)$/;

/** The cursor that {@link formatCursor} wrote; `undefined` for any other text. */
export function parseCursor(text: string): Cursor | undefined {
  const decoded = Buffer.from(text, 'base64url').toString();
  const [, height, filter, order, id, liquidity, empty] = PARTS.exec(decoded) ?? [];
  const beaconHeight = parseBeaconHeight(Number(height));
  if (beaconHeight === undefined || filter === undefined || id === undefined) return undefined;

  const cursor: Cursor = {
    beaconHeight,
    filter,
    order: ORDERS[Number(order)] ?? 'ID_ASC',
    position: { id, nativeLiquidity: liquidity ? BigInt(liquidity) : undefined, isEmpty: empty === EMPTY },
  };
  // Base64 and numbers have several spellings. Only that of `formatCursor` is a cursor.
  return formatCursor(cursor) === text ? cursor : undefined;
}

/** Writes the cursor of a trade. It names no list: it is valid in each list of trades, and stays valid when there are new ones. */
export function formatTradeCursor({ beaconHeight, place }: TradePlace): string {
  return Buffer.from(`${beaconHeight}:${place}`).toString('base64url');
}

/** The place in a cursor that {@link formatTradeCursor} wrote; `undefined` for any other text. */
export function parseTradeCursor(text: string): TradePlace | undefined {
  const [, height, place] = /^(\d{1,16}):(\d{1,9})$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const beaconHeight = parseBeaconHeight(Number(height));
  if (beaconHeight === undefined) return undefined;
  const found = { beaconHeight, place: Number(place) };
  return formatTradeCursor(found) === text ? found : undefined;
}

/** A hash of eleven characters, so that a cursor is not used with another filter. */
export function filterFingerprint(filter: Readonly<Record<string, unknown>>): string {
  const named = Object.entries(filter).filter(([, value]) => value != null);
  named.sort(([a], [b]) => (a < b ? -1 : 1));
  return hash('sha256', JSON.stringify(named), 'base64url').slice(0, 11);
}
