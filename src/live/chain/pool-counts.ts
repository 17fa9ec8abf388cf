import { LRUCache } from 'lru-cache';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { type ExchangeState, poolCount, versionOf } from '../../domain/exchange.ts';
import type { ExchangeVersion } from '../../domain/pool-pair.ts';

/** How many pools the states have that were read. Pools of this exchange never vanish. */
export type PoolCounts = ReturnType<typeof createPoolCounts>;

/** A state with fewer pools than one of a lower height. */
export type LostPools = { readonly height: BeaconHeight; readonly pools: number; readonly before: number };

/** Maximum number of heights that are remembered as reported. */
const HEIGHTS_REPORTED = 64;

/** Creates the counts, with no state read yet. `onLost` is called once for each height. */
export function createPoolCounts(onLost: (lost: LostPools) => void) {
  const reported = new LRUCache<BeaconHeight, true>({ max: HEIGHTS_REPORTED });
  /** For each version, the heights that had more pools than all lower heights that were read, in ascending order. */
  const known = new Map<ExchangeVersion, readonly { readonly height: BeaconHeight; readonly pools: number }[]>();

  return {
    /**
     * Compares a state with those of other heights, and remembers its count. A node with a damaged database responds with
     * fewer pools instead of an error.
     *
     * @returns whether no lower height had more pools. `false` for a state without pools, if any other height had some
     */
    check(state: ExchangeState): boolean {
      const { beaconHeight: height } = state;
      const pools = poolCount(state);
      const steps = known.get(versionOf(state)) ?? [];
      const before = steps.findLast((step) => step.height < height)?.pools ?? 0;
      if (pools < before) {
        if (!reported.has(height)) onLost({ height, pools, before });
        reported.set(height, true);
        return false;
      }
      // Heights are also read from the newest down, so a lower one may not be known. It is not reported, because there are no
      // pools before the first one is created.
      if (pools === 0 && steps.length > 0) return false;
      if (pools > before) {
        const others = steps.filter((step) => step.height < height || step.pools > pools);
        known.set(
          versionOf(state),
          [{ height, pools }, ...others].sort((a, b) => a.height - b.height),
        );
      }
      return true;
    },
    /** Forgets how many pools the states from a height on had, because their blocks may have been replaced. */
    forgetFrom(height: BeaconHeight): void {
      for (const [version, steps] of known) {
        const below = steps.filter((step) => step.height < height);
        known.set(version, below);
      }
    },
  };
}
