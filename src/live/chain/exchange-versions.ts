import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { type ExchangeState, versionOf } from '../../domain/exchange.ts';
import type { ExchangeVersion } from '../../domain/pool-pair.ts';

/** Which version of the exchange trades, and at which heights. All nodes share it. */
export type ExchangeVersions = ReturnType<typeof createExchangeVersions>;

type ProbedTip = {
  readonly height: BeaconHeight;
  /** Whether the node has a state of V3 at that height; see `createExchangeReader`. @throws UpstreamError */
  hasV3(maxCalls: number): Promise<boolean>;
};

type ExchangeVersionsOptions = {
  /** The version that is always used; `undefined` to find out. */
  readonly fixed: ExchangeVersion | undefined;
  /** How often nodes are called for V3. */
  readonly probeMs: number;
  /** Called when the version is known, and when it changes. */
  readonly onChange: (version: ExchangeVersion) => void;
};

/** After this number of calls in a row that failed as those of an unknown method do, a node does not have the method. */
const CALLS_UNTIL_UNKNOWN = 3;

/** At each of this number of heights, nodes are called. After that, from time to time. */
const FIRST_HEIGHTS = 10;

/** Creates the versions, of which nothing is known unless one is fixed. */
export function createExchangeVersions({ fixed, probeMs, onChange }: ExchangeVersionsOptions) {
  let version = fixed;
  let looking: Promise<void> | undefined;
  let heightsLooked = 0;
  let lastHeight: BeaconHeight | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let highestBeforeV3 = Number.NEGATIVE_INFINITY;
  let lowestOfV3 = Number.POSITIVE_INFINITY;

  function become(next: ExchangeVersion): void {
    if (version === next || version === 'V3' || fixed !== undefined) return;
    version = next;
    onChange(next);
  }

  function isDue(height: BeaconHeight): boolean {
    if (version === undefined) return true;
    if (height === lastHeight) return false;
    return heightsLooked < FIRST_HEIGHTS || performance.now() - lookedAt >= probeMs;
  }

  /** Resolves as soon as one node has V3. */
  async function look(tips: readonly ProbedTip[]): Promise<void> {
    const found = Promise.withResolvers<undefined>();
    const calls = tips.map(async (tip) => {
      const hasV3 = await tip.hasV3(version === undefined ? CALLS_UNTIL_UNKNOWN : 1);
      if (hasV3) found.resolve(undefined);
      return hasV3;
    });
    const responses = await Promise.race([found.promise, Promise.allSettled(calls)]);
    if (responses === undefined) become('V3');
    else if (responses.some(({ status }) => status === 'fulfilled')) become('V1');
    else if (version === undefined) throw responses.find((response) => response.status === 'rejected')?.reason;
  }

  return {
    /**
     * Calls nodes to find out whether they have V3 at their tips, if that is due. The promise waits for them while no version is known.
     *
     * @throws UpstreamError if no version is known, and no node has responded
     */
    async lookForV3(tips: readonly ProbedTip[]): Promise<void> {
      const height = Math.max(...tips.map((tip) => tip.height));
      if (fixed !== undefined || version === 'V3' || !isDue(height)) return;
      if (looking !== undefined) return version === undefined ? looking : undefined;
      if (height !== lastHeight) heightsLooked += 1;
      lastHeight = height;
      lookedAt = performance.now();
      looking = look(tips).finally(() => {
        looking = undefined;
      });
      if (version === undefined) await looking;
      else looking.catch(() => undefined);
    },
    /** This or another gateway of the fleet has read a state. */
    observe(state: ExchangeState): void {
      const next = versionOf(state);
      become(next);
      if (next === 'V3') lowestOfV3 = Math.min(state.beaconHeight, lowestOfV3);
    },
    /**
     * The version whose state is the one of a height. It is V1 at each height until V3 was seen. Then it is `undefined` between the
     * heights that are known to be before the start of V3, and those that are known to be after it.
     */
    versionAt(height: BeaconHeight): ExchangeVersion | undefined {
      if (version !== 'V3' || height <= highestBeforeV3) return 'V1';
      return height >= lowestOfV3 ? 'V3' : undefined;
    },
    /** A node has responded that V3 is not available at this height. */
    noteBeforeV3(height: BeaconHeight): void {
      highestBeforeV3 = Math.max(height, highestBeforeV3);
    },
  };
}
