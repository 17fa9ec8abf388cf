import type { BeaconHeight } from './beacon-height.ts';
import { firstIndexWhere } from './binary-search.ts';
import type { Instant } from './instant.ts';
import { BYTES_OF_ORDER, type PoolOrder, sameOrders } from './pool-order.ts';
import { type ExchangeVersion, type PoolName, type PoolPair, poolPairId, tokensKey } from './pool-pair.ts';
import type { TokenId } from './token.ts';

/** The exchange's state at one beacon height, in columns, because many heights are in memory: a pool of V1 takes 16 bytes. */
export type ExchangeState = {
  readonly beaconHeight: BeaconHeight;
  /** When its block was produced; `undefined` if the node does not report it. */
  readonly time: Instant | undefined;
  readonly directory: PoolDirectory;
  /** Two for each place of the directory, in the smallest unit: of token 1, then of token 2. In V3, these are the virtual amounts. */
  readonly reserves: ReserveColumn;
  /** What only a state of V3 has; `undefined` for one of V1. */
  readonly v3?: ExchangeV3 | undefined;
};

/** The virtual amounts of V3 can exceed 64 bits. */
export type ReserveColumn = BigUint64Array | readonly bigint[];

/** What a state of V3 has beside its reserves, by the places of the directory. */
export type ExchangeV3 = {
  /** What the pools hold: two for each place, as `reserves`. */
  readonly values: BigUint64Array;
  readonly amplifiers: readonly number[];
  readonly shareAmounts: BigUint64Array;
  /** The orders of each pool; `undefined` if the node does not send them with the state. */
  readonly orders: readonly (readonly PoolOrder[])[] | undefined;
  readonly params: ExchangeParams;
};

/** The parameters of the third version of the exchange that trades depend on. */
export type ExchangeParams = {
  /** In hundredths of a percent. */
  readonly defaultFeeRateBps: number;
  /** The rates of the pools that have one of their own, by pool id. */
  readonly feeRatesBps: ReadonlyMap<string, number>;
  /** By how many percent a fee that is paid in the native coin is lower. */
  readonly nativeFeeDiscountPercent: number;
  /** How many open orders one NFT can have in a pool. */
  readonly maxOrdersPerNft: number;
  /** The native coin that a pool must hold at least, without amplification, to give the rate of a fee. In smallest units. */
  readonly minNativeReserve: bigint;
};

/** The fee rate of a trade through a pool, in hundredths of a percent. */
export function feeRateBps({ defaultFeeRateBps, feeRatesBps }: ExchangeParams, poolId: string): number {
  return feeRatesBps.get(poolId) ?? defaultFeeRateBps;
}

/** The version of the exchange of a state that a node has, or of a pool. */
export function versionOf({ v3 }: { readonly v3?: object | undefined }): ExchangeVersion {
  return v3 === undefined ? 'V1' : 'V3';
}

/** Which pools an exchange has, shared by the states of many heights. The place of a pool is its index in ascending order of ids. */
export type PoolDirectory = {
  readonly ids: readonly string[];
  readonly token1Ids: readonly TokenId[];
  readonly token2Ids: readonly TokenId[];
  /** The places of the pools that contain a token on either side, ascending. */
  readonly placesOfToken: ReadonlyMap<TokenId, readonly number[]>;
};

/**
 * Creates the directory of these pools.
 *
 * @param ids in ascending order, each once
 * @param similar a directory with mostly the same pools: its strings are used again, so that each is in memory once
 * @returns the similar one if it has the same pools
 */
export function toPoolDirectory(ids: readonly string[], similar?: PoolDirectory): PoolDirectory {
  if (similar !== undefined && hasPools(similar, ids)) return similar;
  const ownIds: string[] = [];
  const token1Ids: TokenId[] = [];
  const token2Ids: TokenId[] = [];
  for (const id of ids) {
    const [token1Id = '', token2Id = ''] = id.split('-');
    const place = (similar && placeOfId(similar, id)) ?? -1;
    ownIds.push(similar?.ids[place] ?? id);
    token1Ids.push(similar?.token1Ids[place] ?? token1Id);
    token2Ids.push(similar?.token2Ids[place] ?? token2Id);
  }
  return { ids: ownIds, token1Ids, token2Ids, placesOfToken: indexByToken(token1Ids, token2Ids) };
}

/** Whether a directory has exactly the pools with these ids. @param ids in ascending order */
export function hasPools({ ids: own }: PoolDirectory, ids: readonly string[]): boolean {
  return own.length === ids.length && own.every((id, place) => id === ids[place]);
}

function indexByToken(token1Ids: readonly TokenId[], token2Ids: readonly TokenId[]): Map<TokenId, number[]> {
  const index = new Map<TokenId, number[]>();
  const add = (tokenId: TokenId, place: number) => {
    const places = index.get(tokenId);
    if (places === undefined) index.set(tokenId, [place]);
    else if (places.at(-1) !== place) places.push(place);
  };
  for (const [place, token1Id] of token1Ids.entries()) {
    add(token1Id, place);
    add(token2Ids[place] ?? '', place);
  }
  return index;
}

/** The same height without pools: V3 before its start. */
export function withoutPools({ beaconHeight, time }: ExchangeState): ExchangeState {
  return { beaconHeight, time, directory: toPoolDirectory([]), reserves: [] };
}

/** Number of pools of a state. */
export function poolCount(state: ExchangeState): number {
  return state.directory.ids.length;
}

const BYTES_OF_POOL = { V1: 16, V3: 100 };

/** The memory that a state takes without its directory, about. */
export function bytesOf(state: ExchangeState): number {
  const orders = state.v3?.orders?.reduce((sum, { length }) => sum + length, 0) ?? 0;
  return poolCount(state) * BYTES_OF_POOL[versionOf(state)] + orders * BYTES_OF_ORDER;
}

/** The pool at a place of the directory: a new object each time. */
export function poolPairAt({ beaconHeight, time, directory, reserves, v3 }: ExchangeState, place: number): PoolPair {
  const poolId = directory.ids[place] ?? '';
  return {
    beaconHeight,
    time,
    token1Id: directory.token1Ids[place] ?? '',
    token2Id: directory.token2Ids[place] ?? '',
    reserve1: reserves[place * 2] ?? 0n,
    reserve2: reserves[place * 2 + 1] ?? 0n,
    ...(v3 && {
      v3: {
        poolId,
        value1: v3.values[place * 2] ?? 0n,
        value2: v3.values[place * 2 + 1] ?? 0n,
        amplifier: v3.amplifiers[place] ?? 0,
        shareAmount: v3.shareAmounts[place] ?? 0n,
        feeRateBps: feeRateBps(v3.params, poolId),
        orders: v3.orders?.[place],
      },
    }),
  };
}

/** The place of a pool; `undefined` if the directory does not have it. */
export function placeOf(directory: PoolDirectory, pool: PoolName): number | undefined {
  return placeOfId(directory, poolPairId(pool));
}

/** The place of the pool with that id; see `poolPairId`. It does not look at each pool: anybody can create any number of them. */
export function placeOfId({ ids }: PoolDirectory, id: string): number | undefined {
  const place = firstIndexWhere(ids.length, (place) => (ids[place] ?? '') >= id);
  return ids[place] === id ? place : undefined;
}

/** The place of the pool of two tokens, in either order. Of several, it is the one with the most liquidity; of equal ones, the first. */
export function findPlace({ directory, v3 }: ExchangeState, a: TokenId, b: TokenId): number | undefined {
  const { ids, placesOfToken } = directory;
  const tokens = tokensKey(a, b);
  const [ofA, ofB] = [placesOfToken.get(a) ?? [], placesOfToken.get(b) ?? []];
  const places = ofA.length < ofB.length ? ofA : ofB;
  const liquidity = (place: number) => (v3?.values[place * 2] ?? 0n) * (v3?.values[place * 2 + 1] ?? 0n);
  let best: number | undefined;
  let index = firstIndexWhere(places.length, (index) => (ids[places[index] ?? 0] ?? '') >= tokens);
  for (let place = places[index]; place !== undefined && ids[place]?.startsWith(tokens); place = places[++index])
    if (best === undefined || liquidity(place) > liquidity(best)) best = place;
  return best;
}

/**
 * Whether a pool has the same amounts, orders and fee rate as in an earlier state, where it may be at another place or missing.
 * Orders that the node does not send with a state are not known, and so not the same as orders that it sends.
 */
export function isUnchanged(state: ExchangeState, place: number, before: ExchangeState): boolean {
  const { directory, reserves, v3 } = state;
  const id = directory.ids[place] ?? '';
  const placeBefore = directory === before.directory ? place : placeOfId(before.directory, id);
  if (placeBefore === undefined) return false;
  const isSame = (column: ReserveColumn | undefined, columnBefore: ReserveColumn | undefined) =>
    column?.[place * 2] === columnBefore?.[placeBefore * 2] &&
    column?.[place * 2 + 1] === columnBefore?.[placeBefore * 2 + 1];
  return (
    isSame(reserves, before.reserves) &&
    isSame(v3?.values, before.v3?.values) &&
    haveSameOrders(v3?.orders?.[place], before.v3?.orders?.[placeBefore]) &&
    (v3?.params === before.v3?.params || feeRateOf(v3, id) === feeRateOf(before.v3, id))
  );
}

function feeRateOf(v3: ExchangeV3 | undefined, poolId: string): number | undefined {
  return v3 && feeRateBps(v3.params, poolId);
}

function haveSameOrders(orders: readonly PoolOrder[] | undefined, before: readonly PoolOrder[] | undefined): boolean {
  return orders === before || (orders !== undefined && before !== undefined && sameOrders(before, orders) === before);
}
