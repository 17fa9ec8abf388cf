import type { BeaconHeight } from './beacon-height.ts';
import type { Instant } from './instant.ts';
import { NATIVE_TOKEN_ID, type TokenId } from './token.ts';

/** A constant-product pool of two tokens, in the state of one beacon height. */
export type PoolPair = {
  readonly beaconHeight: BeaconHeight;
  /** When the block of this height was made; `undefined` if the node does not report it with the state. */
  readonly time?: Instant | undefined;
  /** The lexicographically smaller of the two. */
  readonly token1Id: TokenId;
  readonly token2Id: TokenId;
  /** In token 1's smallest unit: an unsigned 64-bit integer. */
  readonly reserve1: bigint;
  /** In token 2's smallest unit: an unsigned 64-bit integer. */
  readonly reserve2: bigint;
  /** Set if the object stands for the pool at this height for ever, and not for the current pool. */
  readonly isPinned?: true;
};

/** The same pool, at its height for ever. */
export function pin(pool: PoolPair): PoolPair {
  return { ...pool, isPinned: true };
}

/** The id of a pool, the same at all heights: its two token ids in the chain's order, joined by `-`. */
export function poolPairId(pool: Pick<PoolPair, 'token1Id' | 'token2Id'>): string {
  return `${pool.token1Id}-${pool.token2Id}`;
}

/** The two token ids in a text that {@link poolPairId} wrote; `undefined` for another text. */
export function parsePoolPairId(text: string): Pick<PoolPair, 'token1Id' | 'token2Id'> | undefined {
  const [, token1Id, token2Id] = /^([0-9a-f]{64})-([0-9a-f]{64})$/.exec(text) ?? [];
  return token1Id === undefined || token2Id === undefined ? undefined : { token1Id, token2Id };
}

/** The key of a pool in the node's own map, `pdepool-<height>-<id1>-<id2>`. */
export function poolPairKey(pool: PoolPair): string {
  return `pdepool-${pool.beaconHeight}-${poolPairId(pool)}`;
}

/** Whether neither side of the pool is empty, so that it quotes a price. */
export function isNonEmpty(pool: Pick<PoolPair, 'reserve1' | 'reserve2'>): boolean {
  return pool.reserve1 > 0n && pool.reserve2 > 0n;
}

/** The pool's reserve of the native coin, in its smallest unit; `undefined` for a pool without it. */
export function nativeLiquidity(pool: PoolPair): bigint | undefined {
  if (pool.token1Id === NATIVE_TOKEN_ID) return pool.reserve1;
  if (pool.token2Id === NATIVE_TOKEN_ID) return pool.reserve2;
  return undefined;
}

/**
 * The value of both sides of the pool together, in the smallest unit of one of its tokens: a constant-product pool has the same
 * value on both sides. 0 for a pool with an empty side, in which nothing can be traded.
 */
export function liquidityIn(pool: PoolPair, tokenId: TokenId): bigint {
  if (!isNonEmpty(pool)) return 0n;
  return 2n * (pool.token1Id === tokenId ? pool.reserve1 : pool.reserve2);
}
