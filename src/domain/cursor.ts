import { hash } from 'node:crypto';
import { type BeaconHeight, parseBeaconHeight } from './beacon-height.ts';
import type { PoolPairOrder, PoolPairPosition } from './page.ts';

/** A place in one list of pools: the list is told by its height, filter and order, the place by the pool that stands there. */
export type Cursor = {
  readonly beaconHeight: BeaconHeight;
  /** From {@link filterFingerprint}. */
  readonly filter: string;
  readonly order: PoolPairOrder;
  readonly position: PoolPairPosition;
};

const ORDERS: readonly PoolPairOrder[] = ['ID_ASC', 'ID_DESC', 'NATIVE_LIQUIDITY_DESC'];

/** Writes a cursor as a text without meaning to a client. */
export function formatCursor({ beaconHeight, filter, order, position }: Cursor): string {
  const parts = [beaconHeight, filter, ORDERS.indexOf(order), position.id, position.nativeLiquidity?.toString() ?? ''];
  return Buffer.from(parts.join(':')).toString('base64url');
}

const PARTS = /^(\d{1,16}):([\w-]{11}):([012]):([0-9a-f]{64}-[0-9a-f]{64}):(\d{0,20})$/;

/** Reads what {@link formatCursor} wrote, or `undefined` for any other text. */
export function parseCursor(text: string): Cursor | undefined {
  const [, height, filter, order, id, liquidity] = partsOf(text);
  const beaconHeight = parseBeaconHeight(Number(height));
  if (beaconHeight === undefined || filter === undefined || id === undefined) return undefined;

  const cursor: Cursor = {
    beaconHeight,
    filter,
    order: ORDERS[Number(order)] ?? 'ID_ASC',
    position: { id, nativeLiquidity: liquidity ? BigInt(liquidity) : undefined },
  };
  // Base64 and numbers can be written in more ways than one: only ours is a cursor.
  return formatCursor(cursor) === text ? cursor : undefined;
}

/** The height that a text names if it is a cursor; for most texts that are none, `undefined`. */
export function heightOfCursor(text: string): BeaconHeight | undefined {
  return parseBeaconHeight(Number(partsOf(text)[1]));
}

function partsOf(text: string): readonly (string | undefined)[] {
  return PARTS.exec(Buffer.from(text, 'base64url').toString()) ?? [];
}

/** Eleven characters that differ between two filters: so that a cursor is not used with another one. */
export function filterFingerprint(filter: Readonly<Record<string, unknown>>): string {
  const named = Object.entries(filter).filter(([, value]) => value != null);
  return named.length === 0 ? OF_NO_FILTER : fingerprint(named.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function fingerprint(named: readonly (readonly [string, unknown])[]): string {
  return hash('sha256', JSON.stringify(named), 'base64url').slice(0, 11);
}

/** Most lists have none. */
const OF_NO_FILTER = fingerprint([]);
