import type { BeaconHeight } from './beacon-height.ts';
import { NATIVE_TOKEN_ID, type TokenId } from './token-id.ts';

/** A constant-product pool of two tokens as the chain's state at one height holds it. */
export type PoolPair = {
  readonly beaconHeight: BeaconHeight;
  /** The lexicographically smaller of the two. */
  readonly token1Id: TokenId;
  readonly token2Id: TokenId;
  /** In token 1's smallest unit: an unsigned 64-bit integer. */
  readonly reserve1: bigint;
  /** In token 2's smallest unit: an unsigned 64-bit integer. */
  readonly reserve2: bigint;
  /** It is the pool at its height for ever; else it is the pool as of now. */
  readonly isPinned?: true;
};

/** What names a pool at whatever height: its two token ids in the chain's order, joined by `-`. */
export function poolPairId(pool: Pick<PoolPair, 'token1Id' | 'token2Id'>): string {
  return `${pool.token1Id}-${pool.token2Id}`;
}

/** The two ids of a pool, from the text that {@link poolPairId} writes; `undefined` for another text. */
export function parsePoolPairId(text: string): Pick<PoolPair, 'token1Id' | 'token2Id'> | undefined {
  const [, token1Id, token2Id] = /^([0-9a-f]{64})-([0-9a-f]{64})$/.exec(text) ?? [];
  return token1Id === undefined || token2Id === undefined ? undefined : { token1Id, token2Id };
}

/** The key of a pool in the node's own map, `pdepool-<height>-<id1>-<id2>`. */
export function poolPairKey(pool: PoolPair): string {
  return `pdepool-${pool.beaconHeight}-${poolPairId(pool)}`;
}

/** Whether neither side of the pool is empty, so that it quotes a price. */
export function isNonEmpty(pool: PoolPair): boolean {
  return pool.reserve1 > 0n && pool.reserve2 > 0n;
}

/** How much of the native coin the pool holds, in its smallest unit; `undefined` for a pool without it. */
export function nativeLiquidity(pool: PoolPair): bigint | undefined {
  if (pool.token1Id === NATIVE_TOKEN_ID) return pool.reserve1;
  if (pool.token2Id === NATIVE_TOKEN_ID) return pool.reserve2;
  return undefined;
}
