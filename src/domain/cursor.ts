import { hash } from 'node:crypto';
import { type BeaconHeight, parseBeaconHeight } from './beacon-height.ts';
import type { PoolPairOrder, PoolPairPosition } from './page.ts';

/** A position in a list of pools. Height, filter and order identify the list, the sort key of a pool the position. */
export type Cursor = {
  readonly beaconHeight: BeaconHeight;
  /** From {@link filterFingerprint}. */
  readonly filter: string;
  readonly order: PoolPairOrder;
  readonly position: PoolPairPosition;
};

const ORDERS: readonly PoolPairOrder[] = ['ID_ASC', 'ID_DESC', 'NATIVE_LIQUIDITY_DESC', 'NON_EMPTY_FIRST'];

/** Follows the parts of a pool with an empty side. */
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
  const [, height, filter, order, id, liquidity, empty] = partsOf(text);
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

/** The height in a cursor; `undefined` for most other texts. */
export function heightOfCursor(text: string): BeaconHeight | undefined {
  return parseBeaconHeight(Number(partsOf(text)[1]));
}

function partsOf(text: string): readonly (string | undefined)[] {
  return PARTS.exec(Buffer.from(text, 'base64url').toString()) ?? [];
}

/** The place of a trade on the chain. `place` counts the trades of its block from 0. */
type PlaceOnChain = { readonly beaconHeight: BeaconHeight; readonly place: number };

/** Writes the cursor of a trade. It names no list: it is valid in each list of trades, and stays valid when there are new ones. */
export function formatTradeCursor({ beaconHeight, place }: PlaceOnChain): string {
  return Buffer.from(`${beaconHeight}:${place}`).toString('base64url');
}

/** The place in a cursor that {@link formatTradeCursor} wrote; `undefined` for any other text. */
export function parseTradeCursor(text: string): PlaceOnChain | undefined {
  const [, height, place] = /^(\d{1,16}):(\d{1,9})$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  const beaconHeight = parseBeaconHeight(Number(height));
  if (beaconHeight === undefined) return undefined;
  const found = { beaconHeight, place: Number(place) };
  return formatTradeCursor(found) === text ? found : undefined;
}

/** A hash of eleven characters, so that a cursor is not used with another filter. */
export function filterFingerprint(filter: Readonly<Record<string, unknown>>): string {
  const named = Object.entries(filter).filter(([, value]) => value != null);
  return named.length === 0 ? WITHOUT_FILTER : fingerprint(named.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function fingerprint(named: readonly (readonly [string, unknown])[]): string {
  return hash('sha256', JSON.stringify(named), 'base64url').slice(0, 11);
}

/** Computed once, because most lists have no filter. */
const WITHOUT_FILTER = fingerprint([]);
