import { versionOf } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { type PoolPair, poolPairId } from '../domain/pool-pair.ts';
import type { Reserves } from '../domain/reserves.ts';
import { areConsecutive, extendWindow, type PoolWindow } from '../domain/reserves.ts';
import type { TokenId } from '../domain/token.ts';
import { requireAtLeast, requireWithin } from './argument-ranges.ts';
import { createPoolBatches, type HistoryReads, newerHead, reservesIn } from './history-view.ts';
import { createPriceOfBase, type DecimalsArguments, type PriceOf, requireDecimals } from './pool-price.ts';
import type { WindowStart } from './window-starts.ts';

/** The arguments of `PoolPair.change`. */
export type ChangeArguments = DecimalsArguments & { readonly hours?: number | null | undefined };

/** The hours of a window if `hours` is not set. */
export const DEFAULT_HOURS = 24;

/** An hour, in milliseconds. */
export const HOUR_MS = 3_600_000;

/** Checks what no limit decides about. @throws BadUserInputError */
export function requireChangeArguments(args: ChangeArguments): void {
  requireDecimals(args);
  requireAtLeast(1, 'hours', args.hours);
}

/** The change of a pool's price in a window. Most clients read no more of it than two prices, which are in memory. */
export type PriceChange = {
  readonly start: WindowStart;
  readonly from: Reserves | undefined;
  readonly pool: PoolPair;
  readonly priceOf: PriceOf;
  /** Whether the prices are those of token 1, so that the highest one belongs to the lowest ratio of the reserves. */
  readonly isInverse: boolean;
};

/** The changes of prices of the pools of one response. Both throw HistoryUnavailableError. */
export type PriceChangeLoader = {
  /**
   * The change of the price of a token of the pool, by default of token 2. `undefined` if nothing is recorded up to the height
   * of the pool.
   *
   * @throws BadUserInputError for more than a limit
   */
  change(pool: PoolPair, args: ChangeArguments, baseId?: TokenId): MaybePromise<PriceChange | undefined>;
  /** The rest of a change. `high` and `low` are by its price, so they are exchanged if it is inverse. */
  window(change: PriceChange): Promise<PoolWindow>;
};

/** Creates the loader of one response. */
export function createPriceChangeLoader({ view, windowStarts, tokens, limits }: HistoryReads): PriceChangeLoader {
  const { history, read } = view;
  const loadWindow = createPoolBatches(
    // Two windows of different lengths can both start at the first recorded height, and only one of them is complete.
    ({ start, pool }: PriceChange) => `${start.beaconHeight} ${start.isAtStart} ${pool.beaconHeight}`,
    readWindows,
  );

  /** Reads what happened to pools of one height after one start. */
  async function readWindows(keys: readonly PriceChange[]): Promise<PoolWindow[]> {
    const [{ start, pool }] = keys as [PriceChange];
    const toHeight = pool.beaconHeight;
    const version = history.version();
    const heads = view.headsOf(pool);
    const fromHeight = start.beaconHeight;
    const poolIds = keys.map((key) => poolPairId(key.pool));
    // Whether heights are missing is the same for all pools. A pool that is new has no window in the store.
    const oldPool = start.exchange.directory.ids[0];
    const requested = oldPool === undefined ? poolIds : [...new Set([...poolIds, oldPool])];
    const { value, recordedTo = fromHeight } = await read(() =>
      history.windows({ poolIds: requested, fromHeight, toHeight }),
    );

    const recorded = Math.min(toHeight, Math.max(recordedTo, fromHeight));
    const later = heads.filter(({ beaconHeight }) => beaconHeight > recorded);
    const laterHeights = later.map(({ beaconHeight }) => beaconHeight);
    const isRecordedComplete = recorded === fromHeight || (value.get(oldPool ?? '')?.isComplete ?? false);
    const isComplete = start.isAtStart && isRecordedComplete && areConsecutive(laterHeights, recorded, toHeight);
    if (!isComplete) view.dependOnVersion(version);
    return keys.map((change, index) => {
      const { from } = change;
      const recordedWindow = value.get(poolIds[index] ?? '');
      let window = recorded === fromHeight ? from && extendWindow(undefined, from) : recordedWindow;
      for (const head of later) {
        const reserves = reservesIn(head, change.pool);
        if (reserves !== undefined) window = extendWindow(window, reserves);
      }
      // The height of the pool itself can be one that is neither recorded nor in memory.
      return { ...extendWindow(window, change.pool), isComplete };
    });
  }

  /** The start of a window, from the heads in memory if one of them is newer at that moment than all that is recorded. */
  function startOf(pool: PoolPair, end: Instant, lengthMs: number): MaybePromise<WindowStart | undefined> {
    return andThen(
      windowStarts.stateAt({ end, lengthMs, version: versionOf(pool), requester: limits.requester }),
      (start) => {
        const newer = start?.isNewest ? newerHead(view.headsOf(pool), end - lengthMs, start) : undefined;
        if (newer === undefined) return start;
        const { beaconHeight, time, exchange } = newer;
        return { beaconHeight, time, exchange, isSettled: true, isNewest: false, isAtStart: true };
      },
    );
  }

  return {
    change(pool, args, baseId = pool.token2Id) {
      const hours = args.hours ?? DEFAULT_HOURS;
      requireWithin(limits.maxHistoryHours, 'hours', hours);
      const end = view.timeOf(pool);
      if (end === undefined) return undefined;
      return andThen(startOf(pool, end, hours * HOUR_MS), (start) => {
        if (start === undefined || start.isNewest) view.dependOnVersion();
        else if (!start.isSettled) view.dependOnFills();
        if (start === undefined || start.beaconHeight > pool.beaconHeight) return undefined;
        const from = reservesIn(start, pool);
        const isInverse = baseId === pool.token1Id;
        return { start, from, pool, priceOf: createPriceOfBase(pool, args, tokens, baseId), isInverse };
      });
    },
    async window(change) {
      const window = await loadWindow(change);
      const { high, low } = window;
      return change.isInverse ? { ...window, high: low, low: high } : window;
    },
  };
}
