import type { BeaconHeight } from '../domain/beacon-height.ts';
import { type Candle, type CandleInterval, INTERVAL_MS, openTimeOf } from '../domain/candle.ts';
import type { Instant } from '../domain/instant.ts';
import { addTraded, NOTHING_TRADED, type Traded } from '../domain/reserves.ts';
import { sumVolumes, tradedBy, type Volume, volumeOf } from '../domain/trade.ts';
import type { RecordedTrade, RecordedVolumes, TradedHeight, TradedInterval } from '../history/trade-store.ts';
import type { BlockInMemory, KnownTrades } from './known-trades.ts';

/** What pools traded in a window. */
export type VolumesOfWindow = {
  /** The start of the window if the trades are known from there on, else the time of the first block whose trades are known. */
  readonly since: Instant;
  /** Whether the trades of all blocks of the window are known. */
  readonly isComplete: boolean;
  /** Of the pools that traded. */
  readonly volumes: ReadonlyMap<string, Volume>;
};

/** No trade. */
export const NO_VOLUME: Volume = { ...NOTHING_TRADED, trades: 0 };

/** Adds the blocks in memory to the recorded volumes. `undefined` if no block of the window is known. */
export function toVolumes(
  { value, blocks }: KnownTrades<RecordedVolumes>,
  { after, upTo }: { readonly after: Instant; readonly upTo: BeaconHeight },
): VolumesOfWindow | undefined {
  const known = blocks.filter(({ trades }) => trades !== undefined);
  const later = known.filter(({ time }) => time > after);
  const first = byHeight([value.first, later[0]])[0];
  if (first === undefined) return undefined;
  const before = byHeight([value.before, known.findLast(({ time }) => time <= after)]).at(-1);
  const isFromStart = before?.beaconHeight === first.beaconHeight - 1;
  // All blocks of the window are above that one.
  const isComplete = before !== undefined && value.heights + later.length === upTo - before.beaconHeight;
  const trades = later.flatMap(({ trades = [] }) => trades.map((trade) => [trade.poolId, volumeOf(trade)] as const));
  return { since: isFromStart ? after : first.time, isComplete, volumes: sumVolumes([...value.volumes, ...trades]) };
}

function byHeight(blocks: readonly (TradedHeight | undefined)[]): readonly TradedHeight[] {
  return blocks.filter((block) => block !== undefined).sort((a, b) => a.beaconHeight - b.beaconHeight);
}

/** What pools traded in the intervals of candles. */
export type ExactIntervals = {
  /** The sum of the trades of a pool in the interval of a candle; `undefined` if those of a block are not known. */
  tradedIn(candle: Candle, poolId: string): Traded | undefined;
};

/**
 * Adds the blocks in memory to the recorded intervals.
 *
 * @param known the intervals of the candles, and the ones before and after them
 */
export function toExactIntervals(
  { value, recorded, blocks }: KnownTrades<readonly TradedInterval[]>,
  { interval, upTo }: { readonly interval: CandleInterval; readonly upTo: BeaconHeight },
): ExactIntervals {
  const inMemory = new Map<Instant, BlockInMemory[]>();
  for (const block of blocks) {
    const openTime = openTimeOf(block.time, interval);
    inMemory.set(openTime, [...(inMemory.get(openTime) ?? []), block]);
  }
  const intervals = new Map(value.map((each) => [each.openTime, each]));
  const known = new Set(blocks.flatMap(({ beaconHeight, trades }) => (trades === undefined ? [] : [beaconHeight])));
  for (const height of recorded) known.add(height);
  for (const { firstHeight, lastHeight } of value) known.add(firstHeight).add(lastHeight);

  return {
    tradedIn({ openTime, firstHeight, lastHeight }, poolId) {
      const found = intervals.get(openTime);
      const later = inMemory.get(openTime) ?? [];
      const first = Math.min(
        found?.firstHeight ?? Number.POSITIVE_INFINITY,
        later[0]?.beaconHeight ?? Number.POSITIVE_INFINITY,
      );
      const last = Math.max(found?.lastHeight ?? 0, later.at(-1)?.beaconHeight ?? 0);
      const isWhole = found?.isComplete ?? true;
      const areKnown = later.every(({ beaconHeight: height }) => known.has(height) && known.has(height - 1));
      const isFollowed = last === upTo || known.has(last + 1);
      if (!isWhole || !areKnown || !isFollowed || first > firstHeight || last < lastHeight) return undefined;
      return later
        .flatMap(({ trades = [] }) => trades)
        .filter((trade) => trade.poolId === poolId)
        .reduce((sum, trade) => addTraded(sum, tradedBy(trade)), found?.traded.get(poolId) ?? NOTHING_TRADED);
    },
  };
}

/** The range of recorded intervals that {@link toExactIntervals} needs for candles in their order. */
export function rangeAround(candles: readonly Candle[], interval: CandleInterval) {
  const [first, last] = [candles[0]?.openTime ?? 0, candles.at(-1)?.closeTime ?? 0];
  return { from: first - INTERVAL_MS[interval], to: last + INTERVAL_MS[interval] };
}

/** Whether a trade is before another place on the chain. */
export function isBefore(
  { beaconHeight, place }: Pick<RecordedTrade, 'beaconHeight' | 'place'>,
  end: Pick<RecordedTrade, 'beaconHeight' | 'place'>,
): boolean {
  return beaconHeight < end.beaconHeight || (beaconHeight === end.beaconHeight && place < end.place);
}
