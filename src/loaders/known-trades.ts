import type { BeaconHeight, TimedHeight } from '../domain/beacon-height.ts';
import { type Candle, type CandleInterval, INTERVAL_MS, openTimeOf } from '../domain/candle.ts';
import { ancestors } from '../domain/chain.ts';
import type { Instant } from '../domain/instant.ts';
import type { PoolPair } from '../domain/pool-pair.ts';
import { addTraded, NOTHING_TRADED, type Traded } from '../domain/reserves.ts';
import { type BlockTrades, sumVolumes, type Volume, volumeOf } from '../domain/trade.ts';
import { UpstreamBadShapeError } from '../errors.ts';
import type { BesideMemory, RecordedTrade, RecordedVolumes, TradedInterval } from '../history/trade-store.ts';
import type { Head } from '../live/chain/head.ts';
import type { HeadTrades } from '../live/chain/head-trades.ts';
import type { Requester } from '../turns/fair-queue.ts';

/** A block of a head in memory. Its trades are in the order of the block, and `undefined` if they cannot be read. */
type BlockInMemory = TimedHeight & { readonly trades: readonly RecordedTrade[] | undefined };

/** A result of the database, and the blocks in memory, ascending, that it does not contain. */
export type KnownTrades<T> = BesideMemory<T> & {
  readonly blocks: readonly BlockInMemory[];
  /** The lowest block in memory of the chain of the head, if memory also has one below it that may have been replaced. */
  readonly cutAt?: BeaconHeight | undefined;
};

/** Reads the database. @throws HistoryUnavailableError */
export type ReadHistory = <T>(operation: () => Promise<T>) => Promise<T>;

/** The trades of blocks, and who waits for them. */
type TradesInputs = {
  readonly sources: { readonly trades: Pick<HeadTrades, 'of'> };
  readonly options: { readonly requester: Requester };
};

type KnownTradesOptions = {
  readonly isNeeded?: (block: TimedHeight) => boolean;
  readonly isNewestNeeded?: boolean;
  readonly read?: ReadHistory;
};

/** Creates the function that reads known trades for one response. */
export function createKnownTrades(
  view: { headsOf(pool: PoolPair): readonly Head[]; readonly read: ReadHistory },
  inputs: TradesInputs,
) {
  /**
   * Reads something of the recorded trades up to the height of a pool, and the trades of the blocks that are not recorded. No block is in
   * both. The blocks in memory are those of the branch of the response's head.
   *
   * @param query reads the database, for the heights that are in memory from this one on
   * @param options.isNeeded selects the blocks in memory
   * @param options.isNewestNeeded whether the block at the height of the pool must be known; true by default
   * @param options.read reads the database; by default, it waits in the queue of the history
   * @throws HistoryUnavailableError, UpstreamError if the trades of a block that must be known cannot be read
   */
  return async <T>(
    pool: PoolPair,
    query: (memoryFrom: BeaconHeight) => Promise<BesideMemory<T>>,
    options: KnownTradesOptions = {},
  ): Promise<KnownTrades<T>> => {
    const { isNeeded = () => true, isNewestNeeded = true, read = view.read } = options;
    // Before the database is read: it says which of them it contains.
    const inMemory = view.headsOf(pool);
    const heads = linked(inMemory);
    const cutAt = heads.length < inMemory.length ? heads[0]?.beaconHeight : undefined;
    const memoryFrom = heads[0]?.beaconHeight ?? pool.beaconHeight + 1;
    const found = await read(() => query(memoryFrom));
    const rest = heads.filter((head) => !found.recorded.has(head.beaconHeight) && isNeeded(head));
    const blocks = rest.map(async (head): Promise<BlockInMemory> => {
      const { beaconHeight, time } = head;
      const reading = readTradesOf(head, inputs);
      if (isNewestNeeded && beaconHeight === pool.beaconHeight) return { beaconHeight, time, trades: await reading };
      return { beaconHeight, time, trades: await reading.catch(() => undefined) };
    });
    return { ...found, cutAt, blocks: await Promise.all(blocks) };
  };
}

/**
 * The newest head, and those that are surely below it on its chain, ascending. A head below a height that was skipped can be one that was
 * replaced: its trades count once they are recorded.
 */
function linked(heads: readonly Head[]): readonly Head[] {
  const newest = heads.at(-1);
  return newest === undefined ? [] : ancestors(newest, heads).toReversed();
}

/** The trades of the block of a head, in their order. @throws UpstreamError if the block, or one of its trades, cannot be read */
export async function readTradesOf(head: Head, { sources, options }: TradesInputs): Promise<readonly RecordedTrade[]> {
  const { beaconHeight, time } = head;
  const block = await sources.trades.of(head, options.requester);
  if (!block.isComplete) throw new UpstreamBadShapeError('NODE', 'a trade of the block cannot be decoded');
  const known = tradesOfBlocks.get(block);
  if (known !== undefined) return known;
  const found = block.trades.map((trade, place) => ({ ...trade, beaconHeight, time, place }));
  tradesOfBlocks.set(block, found);
  return found;
}

/** An operation can name many trades of one block. */
const tradesOfBlocks = new WeakMap<BlockTrades, readonly RecordedTrade[]>();

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
  const volumes = sumVolumes([...value.volumes, ...volumesIn(later)]);
  return { since: isFromStart ? after : first.time, isComplete, volumes };
}

function* volumesIn(blocks: readonly BlockInMemory[]) {
  for (const { trades = [] } of blocks) for (const trade of trades) yield [trade.poolId, volumeOf(trade)] as const;
}

function byHeight(blocks: readonly (TimedHeight | undefined)[]): readonly TimedHeight[] {
  return blocks.filter((block) => block !== undefined).sort((a, b) => a.beaconHeight - b.beaconHeight);
}

/** The sum of the trades of a pool in the interval of a candle; `undefined` if those of a block are not known. */
export type TradedIn = ReturnType<typeof toExactIntervals>;

/**
 * Adds the blocks in memory to the recorded intervals.
 *
 * @param known the intervals of the candles, and the ones before and after them
 */
export function toExactIntervals(
  { value, recorded, blocks, cutAt }: KnownTrades<readonly TradedInterval[]>,
  { interval, upTo }: { readonly interval: CandleInterval; readonly upTo: BeaconHeight },
) {
  const inMemory = Map.groupBy(blocks, ({ time }) => openTimeOf(time, interval));
  const tradedInMemory = new Map([...inMemory].map(([openTime, own]) => [openTime, sumVolumes(volumesIn(own))]));
  const intervals = new Map(value.map((each) => [each.openTime, each]));
  const known = new Set(blocks.flatMap(({ beaconHeight, trades }) => (trades === undefined ? [] : [beaconHeight])));
  for (const height of recorded) known.add(height);
  for (const { firstHeight, lastHeight } of value) known.add(firstHeight).add(lastHeight);

  return ({ openTime, firstHeight, lastHeight, isComplete }: Candle, poolId: string): Traded | undefined => {
    const found = intervals.get(openTime);
    const later = inMemory.get(openTime) ?? [];
    const first = Math.min(
      found?.firstHeight ?? Number.POSITIVE_INFINITY,
      later[0]?.beaconHeight ?? Number.POSITIVE_INFINITY,
    );
    const last = Math.max(found?.lastHeight ?? 0, later.at(-1)?.beaconHeight ?? 0);
    const isWhole = found?.isComplete ?? true;
    // The heights next to a complete candle are of other intervals, which can be farther away than those that were read. Of a block that
    // was replaced, the time says nothing.
    const isFirst = (height: BeaconHeight) => isComplete && height === firstHeight && height !== cutAt;
    const areKnown = later.every(
      ({ beaconHeight: height }) => known.has(height) && (isFirst(height) || known.has(height - 1)),
    );
    const isFollowed = last === upTo || known.has(last + 1) || (isComplete && last === lastHeight);
    if (!isWhole || !areKnown || !isFollowed || first > firstHeight || last < lastHeight) return undefined;
    const [recordedPart, part] = [found?.traded.get(poolId), tradedInMemory.get(openTime)?.get(poolId)];
    return addTraded(recordedPart ?? NOTHING_TRADED, part ?? NOTHING_TRADED);
  };
}

/** The range of recorded intervals that {@link toExactIntervals} needs for candles in their order. */
export function rangeAround(candles: readonly Candle[], interval: CandleInterval) {
  const [first, last] = [candles[0]?.openTime ?? 0, candles.at(-1)?.closeTime ?? 0];
  return { from: first - INTERVAL_MS[interval], to: last + INTERVAL_MS[interval] };
}
