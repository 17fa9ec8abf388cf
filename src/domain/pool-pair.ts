import type { BeaconHeight } from './beacon-height.ts';
import type { Instant } from './instant.ts';
import type { PoolOrder } from './pool-order.ts';
import { NATIVE_TOKEN_ID, type TokenId } from './token.ts';

/** The version of the exchange. V1 has one pool of two tokens, V3 any number. */
export type ExchangeVersion = 'V1' | 'V3';

/** A constant-product pool of two tokens, in the state of one beacon height. */
export type PoolPair = {
  readonly beaconHeight: BeaconHeight;
  /** When the block of this height was made; `undefined` if the node does not report it with the state. */
  readonly time?: Instant | undefined;
  /** The lexicographically smaller of the two. */
  readonly token1Id: TokenId;
  readonly token2Id: TokenId;
  /**
   * The amount that prices and swaps are computed with, in token 1's smallest unit: an unsigned 64-bit integer in V1. In V3 it is
   * the virtual amount, which can exceed that.
   */
  readonly reserve1: bigint;
  /** The same of token 2. */
  readonly reserve2: bigint;
  /** What a pool of V3 has beside that; `undefined` for one of V1. */
  readonly v3?: PoolV3 | undefined;
  /** Set if the object stands for the pool at this height for ever, and not for the current pool. */
  readonly isPinned?: true;
};

type PoolV3 = {
  /** `<token 1>-<token 2>-<hash>`: several pools have the same two tokens. */
  readonly poolId: string;
  /** What it holds of token 1, in its smallest unit: an unsigned 64-bit integer. */
  readonly value1: bigint;
  /** The same of token 2. */
  readonly value2: bigint;
  /**
   * The ratio of the reserves to the values when the pool was created, in hundredths of a percent: 10000 for a pool without
   * amplification. It has up to 64 bits, and is exact up to 2^53.
   */
  readonly amplifier: number;
  /** The shares of all liquidity providers together. */
  readonly shareAmount: bigint;
  /** Fee of a trade, in hundredths of a percent. */
  readonly feeRateBps: number;
  /** Its open orders in the order of the node: by `rate2 / rate1`, ascending. `undefined` if the node does not send them with the state. */
  readonly orders: readonly PoolOrder[] | undefined;
};

type PoolAmounts = Pick<PoolPair, 'reserve1' | 'reserve2' | 'v3'>;

/** What a pool holds, in smallest units. In V1, prices are computed with the same amounts. */
export function poolValues({ v3, reserve1, reserve2 }: PoolAmounts): Pick<PoolV3, 'value1' | 'value2'> {
  return v3 ?? { value1: reserve1, value2: reserve2 };
}

/** Whether a pool accepts trades: it holds both of its tokens. */
export function isTradable(pool: PoolAmounts): boolean {
  const { value1, value2 } = poolValues(pool);
  return value1 > 0n && value2 > 0n;
}

/** The same pool, at its height for ever. */
export function pin(pool: PoolPair): PoolPair {
  return { ...pool, isPinned: true };
}

/** What names a pool at all heights. */
export type PoolName = Pick<PoolPair, 'token1Id' | 'token2Id'> & { readonly v3?: Pick<PoolV3, 'poolId'> | undefined };

/** The id of a pool, the same at all heights. In V1, its two token ids in the chain's order, joined by `-`; in V3, its pool id. */
export function poolPairId({ token1Id, token2Id, v3 }: PoolName): string {
  return v3?.poolId ?? `${token1Id}-${token2Id}`;
}

/** Two tokens, in either order, as the ids of all their pools begin: all pairs and pools of these tokens share it. */
export function tokensKey(a: TokenId, b: TokenId): string {
  return a < b ? `${a}-${b}` : `${b}-${a}`;
}

/** What is named by a text that {@link poolPairId} wrote, of either version; `undefined` for another text. */
export function parsePoolPairId(text: string): PoolName | undefined {
  const [, token1Id, token2Id, hash] = /^([0-9a-f]{64})-([0-9a-f]{64})(?:-([0-9a-f]{64}))?$/.exec(text) ?? [];
  if (token1Id === undefined || token2Id === undefined) return undefined;
  return hash === undefined ? { token1Id, token2Id } : { token1Id, token2Id, v3: { poolId: text } };
}

/**
 * The pool of V3 that the pool id of a pair or of a client names: hosts may write it in upper case, or with its two token ids in
 * the other order. `undefined` for a text that is not a pool id.
 */
export function parsePoolId(poolId: string): PoolName | undefined {
  const spelled = poolId.toLowerCase();
  const named = parsePoolPairId(spelled);
  if (named?.v3 === undefined || named.token1Id < named.token2Id) return named?.v3 && named;
  const [token1Id, token2Id] = [named.token2Id, named.token1Id];
  const tokens = `${token1Id}-${token2Id}`;
  return { token1Id, token2Id, v3: { poolId: tokens + spelled.slice(tokens.length) } };
}

/** The key of a pool in the node's own map: `pdepool-<height>-<id1>-<id2>` in V1, the pool id in V3. */
export function poolPairKey(pool: PoolPair): string {
  return pool.v3?.poolId ?? `pdepool-${pool.beaconHeight}-${poolPairId(pool)}`;
}

/** Whether neither reserve is 0, so that the pool has a price. */
export function hasPrice(pool: Pick<PoolPair, 'reserve1' | 'reserve2'>): boolean {
  return pool.reserve1 > 0n && pool.reserve2 > 0n;
}

/** What the pool holds of the native coin, in its smallest unit; `undefined` for a pool without it. */
export function nativeLiquidity(pool: PoolPair): bigint | undefined {
  const { value1, value2 } = poolValues(pool);
  if (pool.token1Id === NATIVE_TOKEN_ID) return value1;
  if (pool.token2Id === NATIVE_TOKEN_ID) return value2;
  return undefined;
}

/**
 * The value of what the pool holds of both tokens together, in the smallest unit of one of them, rounded down. The other token is valued
 * at the spot price, so that in V1 both sides have the same value. 0 for a pool with an empty side, in which nothing can be traded.
 */
export function liquidityIn(pool: PoolPair, tokenId: TokenId): bigint {
  if (!isTradable(pool) || !hasPrice(pool)) return 0n;
  const { value1, value2 } = poolValues(pool);
  const { reserve1, reserve2 } = pool;
  return pool.token1Id === tokenId ? value1 + (value2 * reserve1) / reserve2 : value2 + (value1 * reserve2) / reserve1;
}
