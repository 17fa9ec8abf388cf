import type { ChainPool } from './pools.ts';
import { createRandom } from './random.ts';

/** The liquidity providers of the pools. They never change; their shares and fees are in the blocks. */
export type Providers = {
  readonly perPool: number;
  /** The addresses of the providers of a pool, in the order of the node's keys. */
  of(pool: number): readonly string[];
  /** The index of the first share of a pool in the `shares` and `fees` of a block. */
  first(pool: number): number;
  /** Whether the share at this index has an entry in the trading fees. */
  earnsFees(place: number): boolean;
  /** The shares in the first block. */
  readonly initialShares: BigUint64Array;
  readonly initialFees: BigUint64Array;
};

/** Creates the providers of a chain. Each provides several pools, and some have no shares left. */
export function createProviders(seed: number, pools: readonly ChainPool[], perPool: number): Providers {
  const addresses = addressesOf(seed, Math.max(60, perPool, Math.min(5_000, perPool * 8)));
  const initialShares = new BigUint64Array(pools.length * perPool);
  const initialFees = new BigUint64Array(pools.length * perPool);
  const earnsFees = (place: number) => place % 8 === 1;

  const offsets = pools.map((pool, number) => {
    const random = createRandom(seed, 'providers', number);
    for (let i = 0; i < perPool; i++) {
      const place = number * perPool + i;
      const weight = random.chance(0.1) ? 0 : random.below(1_000_000);
      initialShares[place] = (pool.initial[0] * BigInt(weight)) / BigInt(1_000_000 * perPool);
      initialFees[place] = earnsFees(place) ? BigInt(random.below(50_000_000)) : 0n;
    }
    return random.below(addresses.length);
  });

  return {
    perPool,
    of(pool) {
      const start = offsets[pool] ?? 0;
      const wrapped = Math.max(0, start + perPool - addresses.length);
      return [...addresses.slice(0, wrapped), ...addresses.slice(start, start + perPool)];
    },
    first: (pool) => pool * perPool,
    earnsFees,
    initialShares,
    initialFees,
  };
}

function addressesOf(seed: number, count: number): readonly string[] {
  const random = createRandom(seed, 'addresses');
  return Array.from({ length: count }, () => `12${random.base58(101)}`).sort();
}
