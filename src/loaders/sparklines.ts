import { versionOf } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { type PoolPair, poolPairId } from '../domain/pool-pair.ts';
import type { Reserves } from '../domain/reserves.ts';
import type { TokenId } from '../domain/token.ts';
import type { Head } from '../live/chain/head.ts';
import { requireBetween, requireWithin } from './argument-ranges.ts';
import { createPoolBatches, type HistoryReads, newerHead, reservesIn } from './history-view.ts';
import { createPriceOfBase } from './pool-price.ts';
import { type ChangeArguments, DEFAULT_HOURS, HOUR_MS, requireChangeArguments } from './price-changes.ts';

/** The arguments of `PoolPair.sparkline`. */
type SparklineArguments = ChangeArguments & { readonly points?: number | null | undefined };

/** The values of a sparkline if `points` is not set. */
export const DEFAULT_POINTS = 24;

const MIN_POINTS = 2;
const MAX_POINTS = 500;

/** Checks what no limit decides about. @throws BadUserInputError */
export function requireSparklineArguments(args: SparklineArguments): void {
  requireChangeArguments(args);
  requireBetween(MIN_POINTS, MAX_POINTS, 'points', args.points);
}

/** The reserves of one pool at moments up to its height. */
type MomentsKey = { readonly pool: PoolPair; readonly points: number; readonly hours: number; readonly end: Instant };

/** Creates the loader of the small charts of the pools of one response. */
export function createSparklineLoader({ view, windowStarts, tokens, limits }: HistoryReads) {
  const { history, read } = view;
  const loadMoments = createPoolBatches(
    ({ pool, points, hours }: MomentsKey) => `${pool.beaconHeight} ${points} ${hours}`,
    (keys) => read(() => readMoments(keys)),
  );

  /** Reads the reserves of pools of one height at moments before it, without the last one. */
  async function readMoments(keys: readonly MomentsKey[]): Promise<(readonly (Reserves | undefined)[])[]> {
    const [{ pool, points, hours, end }] = keys as [MomentsKey];
    const recordedVersion = history.version();
    const version = versionOf(pool);
    const heads = view.headsOf(pool);
    const moments = momentsUpTo(end, hours, points).slice(0, -1);
    const found = await windowStarts.blocksAt(moments, version);
    const blocks = found.map((block, index) => {
      const moment = moments[index] ?? end;
      return (block?.isNewest === false ? undefined : newerHead(heads, moment, block)) ?? block;
    });
    const settled = blocks.every((block) => block !== undefined && (isHead(block) || block.isSettled));
    if (!settled) view.dependOnVersion(recordedVersion);
    const heights = [...new Set(blocks.flatMap((block) => (block && !isHead(block) ? [block.beaconHeight] : [])))];
    const poolIds = keys.map((key) => poolPairId(key.pool));
    const recorded = heights.length === 0 ? undefined : await history.reservesAt({ poolIds, heights });
    return keys.map((key, index) => {
      const states = recorded?.get(poolIds[index] ?? '');
      return blocks.map((block) => {
        if (block === undefined || block.beaconHeight > pool.beaconHeight) return undefined;
        return isHead(block) ? reservesIn(block, key.pool) : states?.[heights.indexOf(block.beaconHeight)];
      });
    });
  }

  return {
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
      requireWithin(limits.maxHistoryHours, 'hours', hours);
      const priceOf = createPriceOfBase(pool, args, tokens, baseId);
      const end = view.timeOf(pool);
      if (end === undefined) return [...Array<undefined>(points - 1), priceOf(pool)];
      const before = await loadMoments({ pool, points, hours, end });
      return [...before.map(priceOf), priceOf(pool)];
    },
  };
}

/** Evenly spaced moments, the last of them at `end`. */
function momentsUpTo(end: Instant, hours: number, points: number): Instant[] {
  return Array.from({ length: points }, (_, index) => end - (hours * HOUR_MS * (points - 1 - index)) / (points - 1));
}

function isHead(block: object): block is Head {
  return 'exchange' in block;
}
