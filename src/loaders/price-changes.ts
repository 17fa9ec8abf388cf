import type { BeaconHeight } from '../domain/beacon-height.ts';
import { INTERVAL_MS } from '../domain/candle.ts';
import { versionOf } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { type PoolPair, poolPairId } from '../domain/pool-pair.ts';
import { areConsecutive, extendWindow, type PoolWindow, type Reserves } from '../domain/reserves.ts';
import type { TokenId } from '../domain/token.ts';
import type { Head } from '../live/chain/head.ts';
import { requireAtLeast, requireBetween, requireWithin, type SentArguments } from './arguments.ts';
import type { WindowStart } from './history-cache.ts';
import { createPoolBatches, type HistoryView, newerHead, type PoolsAtHeight, reservesIn } from './history-view.ts';
import { createPriceOfBase, type DecimalsArguments, type PriceOf, requireDecimals } from './pool-price.ts';

/** The arguments of `PoolPair.change`. */
export type ChangeArguments = DecimalsArguments & SentArguments<{ hours: number }>;

/** The hours of a window if `hours` is not set. */
export const DEFAULT_HOURS = 24;

type SparklineArguments = ChangeArguments & SentArguments<{ points: number }>;

/** The values of a sparkline if `points` is not set. */
export const DEFAULT_POINTS = 24;

const MIN_POINTS = 2;
const MAX_POINTS = 500;

/** Checks the arguments, except for the limits of this gateway. @throws BadUserInputError */
export function requireSparklineArguments(args: SparklineArguments): void {
  requireChangeArguments(args);
  requireBetween(MIN_POINTS, MAX_POINTS, 'points', args.points);
}

/** Checks the arguments, except for the limits of this gateway. @throws BadUserInputError */
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

/** The thread of the history sends them in one message: 200,000 states would block the event loop for 200 ms. */
const MAX_STATES_TOGETHER = 10_000;

type Moments = { readonly points: number; readonly hours: number; readonly end: Instant };

/** Creates the loader of the changes of prices and of the small charts of the pools of one response. */
export function createPriceChangeLoader(view: HistoryView) {
  const { history, cache, read, versions, tokens, options } = view;
  // Two windows of different lengths can both start at the first recorded height, and only one of them is complete.
  const loadWindow = createPoolBatches(
    readWindows,
    ({ beaconHeight, isAtStart }: WindowStart) => `${beaconHeight} ${isAtStart}`,
  );
  const loadMoments = createPoolBatches((pools, window: Moments) => read(() => readMoments(pools, window)));

  async function readWindows(pools: PoolsAtHeight, start: WindowStart): Promise<PoolWindow[]> {
    const toHeight = pools[0].beaconHeight;
    const version = history.version();
    const heads = view.headsOf(pools[0]);
    const fromHeight = start.beaconHeight;
    const poolIds = pools.map(poolPairId);
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
    if (!isComplete) versions.recorded.depend(version);
    return pools.map((pool, index) => {
      const from = reservesIn(start, pool);
      const recordedWindow = value.get(poolIds[index] ?? '');
      let window = recorded === fromHeight ? from && extendWindow(undefined, from) : recordedWindow;
      for (const head of later) {
        const reserves = reservesIn(head, pool);
        if (reserves !== undefined) window = extendWindow(window, reserves);
      }
      // The height of the pool itself can be one that is neither recorded nor in memory.
      return { ...extendWindow(window, pool), isComplete };
    });
  }

  /** The start of a window, from the heads in memory if one of them is newer at that moment than all that is recorded. */
  function startOf(pool: PoolPair, moment: Instant): MaybePromise<WindowStart | undefined> {
    return andThen(cache.startAt(moment, versionOf(pool), options.requester), (start) => {
      const newer = start?.isNewest ? newerHead(view.headsOf(pool), moment, start) : undefined;
      if (newer === undefined) return start;
      const { beaconHeight, time, exchange } = newer;
      return { beaconHeight, time, exchange, isSettled: true, isNewest: false, isAtStart: true };
    });
  }

  /** Reads the reserves of pools of one height at moments before it, without the last one. */
  async function readMoments(pools: PoolsAtHeight, { points, hours, end }: Moments) {
    const [pool] = pools;
    const recordedVersion = history.version();
    const heads = view.headsOf(pool);
    const moments = momentsBefore({ points, hours, end });
    const found = await history.blocksAt(moments, versionOf(pool));
    const blocks = found.map((each, index) => {
      const newer = each?.next ? undefined : newerHead(heads, moments[index] ?? end, each?.block);
      return newer ?? each?.block;
    });
    const settled = found.every((each, index) => {
      const block = blocks[index];
      return block !== undefined && (isHead(block) || each?.next?.beaconHeight === block.beaconHeight + 1);
    });
    if (!settled) versions.recorded.depend(recordedVersion);
    const heights = [...new Set(blocks.flatMap((block) => (block && !isHead(block) ? [block.beaconHeight] : [])))];
    const poolIds = pools.map(poolPairId);
    const recorded = heights.length === 0 ? [] : await readStates(poolIds, heights);
    return pools.map((each, index) => {
      const states = recorded[index];
      return blocks.map((block) => {
        if (block === undefined || block.beaconHeight > pool.beaconHeight) return undefined;
        return isHead(block) ? reservesIn(block, each) : states?.[heights.indexOf(block.beaconHeight)];
      });
    });
  }

  /** Reads the reserves of each pool at heights, of a few pools at a time. */
  async function readStates(poolIds: readonly string[], heights: readonly BeaconHeight[]) {
    const poolsTogether = Math.ceil(MAX_STATES_TOGETHER / heights.length);
    const states: (readonly (Reserves | undefined)[] | undefined)[] = [];
    for (let start = 0; start < poolIds.length; start += poolsTogether) {
      const some = poolIds.slice(start, start + poolsTogether);
      const found = await history.reservesAt({ poolIds: some, heights });
      for (const id of some) states.push(found.get(id));
    }
    return states;
  }

  return {
    /**
     * The change of the price of a token of the pool, by default of token 2. `undefined` if nothing is recorded up to the height
     * of the pool.
     *
     * @throws BadUserInputError for more than a limit, HistoryUnavailableError
     */
    change(pool: PoolPair, args: ChangeArguments, baseId = pool.token2Id): MaybePromise<PriceChange | undefined> {
      const hours = args.hours ?? DEFAULT_HOURS;
      requireWithin(options.maxHistoryHours, 'hours', hours);
      const end = view.timeOf(pool);
      if (end === undefined) return undefined;
      return andThen(startOf(pool, end - hours * INTERVAL_MS.ONE_HOUR), (start) => {
        if (!start?.isSettled) versions.recorded.depend();
        if (start === undefined || start.beaconHeight > pool.beaconHeight) return undefined;
        const from = reservesIn(start, pool);
        const isInverse = baseId === pool.token1Id;
        return { start, from, pool, priceOf: createPriceOfBase(pool, args, tokens.list, baseId), isInverse };
      });
    },
    /**
     * The rest of a change. `high` and `low` are by its price, so they are exchanged if it is inverse.
     *
     * @throws HistoryUnavailableError
     */
    async window({ pool, start, isInverse }: PriceChange): Promise<PoolWindow> {
      const window = await loadWindow(pool, start);
      const { high, low } = window;
      return isInverse ? { ...window, high: low, low: high } : window;
    },
    /**
     * The prices of a token of the pool, by default of token 2, at moments up to the height of the pool, oldest first.
     *
     * @throws BadUserInputError for more than a limit, HistoryUnavailableError
     */
    async sparkline(
      pool: PoolPair,
      args: SparklineArguments,
      baseId: TokenId = pool.token2Id,
    ): Promise<readonly (number | undefined)[]> {
      const hours = args.hours ?? DEFAULT_HOURS;
      const points = args.points ?? DEFAULT_POINTS;
      requireWithin(options.maxHistoryHours, 'hours', hours);
      const priceOf = createPriceOfBase(pool, args, tokens.list, baseId);
      const end = view.timeOf(pool);
      if (end === undefined) return [...Array<undefined>(points - 1), priceOf(pool)];
      const before = await loadMoments(pool, { points, hours, end });
      return [...before.map(priceOf), priceOf(pool)];
    },
  };
}

/** Evenly spaced moments, without the last one at `end`. */
function momentsBefore({ points, hours, end }: Moments): Instant[] {
  return Array.from(
    Array(points - 1).keys(),
    (index) => end - (hours * INTERVAL_MS.ONE_HOUR * (points - 1 - index)) / (points - 1),
  );
}

function isHead(block: object): block is Head {
  return 'exchange' in block;
}
