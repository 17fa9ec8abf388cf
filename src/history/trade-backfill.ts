import { type BeaconHeight, newestFinal } from '../domain/beacon-height.ts';
import { ancestors, isReplacedBy } from '../domain/chain.ts';
import { drain, fullBucket, msUntilAvailable, type RateLimit, refill } from '../domain/token-bucket.ts';
import type { Head } from '../live/chain/head.ts';
import type { HeadTrades } from '../live/chain/head-trades.ts';
import type { Requester } from '../turns/fair-queue.ts';
import { type BackfillRate, createBackfillLoop, type Tip } from './backfill-loop.ts';
import { newestTime, type Recorder } from './recorder.ts';
import type { HistoryStore } from './store.ts';
import type { TradedBlock } from './trade-store.ts';

/** The backfill of trades. */
export type TradeBackfill = ReturnType<typeof createTradeBackfill>;

type TradeBackfillOptions = {
  readonly store: Pick<HistoryStore, 'missingTrades' | 'deletedBefore'>;
  readonly recorder: Pick<Recorder, 'ready' | 'recordTrades' | 'headsInMemory'> & {
    readonly recorded: Pick<Recorder['recorded'], 'coverage' | 'tradeCoverage' | 'onRecorded'>;
  };
  readonly trades: Pick<HeadTrades, 'of' | 'readPast'>;
  /** Whether blocks that are not in memory have to wait: the node is unwell or limits calls, clients need it, or another replica reads. */
  readonly mustPause: () => boolean;
  /** Whether this gateway records. */
  readonly mayRun: () => boolean;
  /** How long trades are stored, by the times of blocks. */
  readonly storedForMs: number;
  /** How far below the newest block, by the times of blocks, it reads those below the lowest recorded one. */
  readonly maxAgeMs: number;
  readonly rate: BackfillRate;
  /** How many bytes are read from the nodes at most. */
  readonly bytes: RateLimit;
  /** The time in milliseconds. */
  readonly now?: () => number;
};

/**
 * The bytes of a real node: 86.4 MB a day, and 5 MB at once after the start. Together with one block of the largest size, which is read
 * before its size is known, these are less than 100 MB in any 24 hours.
 */
export const GENTLE_BYTES: RateLimit = { pointsPerSecond: 1_000, burst: 5_000_000 };

/** The bytes of the built-in sandbox, which is in this process. */
export const QUICK_BYTES: RateLimit = { pointsPerSecond: 1e9, burst: 1e9 };

/** The trades of heads in memory wait in the queue of the node as those of one client do. */
const BACKFILL: Requester = { client: Symbol('backfill of trades') };

/**
 * Records the trades of final blocks of V3, from the newest down: those of heads in memory, and of blocks that it reads from the
 * nodes. It records the blocks that are missing between the lowest recorded one and the highest recorded state, as far as trades are
 * stored, and the blocks below these, up to an age that is set. It does nothing before it is woken.
 */
export function createTradeBackfill(options: TradeBackfillOptions) {
  const { store, recorder, trades, mustPause, mayRun, storedForMs, maxAgeMs, rate, bytes } = options;
  const { now = () => performance.now() } = options;
  /** The highest recorded height that was made before the time that is read. */
  let recordedTooOld = 0;
  /** The same, with the heights of the current reads: until they are recorded, their times may be wrong. */
  let tooOld = 0;
  let reads = 0;
  let readBytes = 0;
  let bucket = fullBucket(bytes, now());

  /** The final heads in memory that are surely on the chain of a head. The others are read again. */
  function inMemory(head: Head): ReadonlyMap<BeaconHeight, Head> {
    const final = newestFinal(head.beaconHeight);
    const below = ancestors(head, recorder.headsInMemory()).filter(({ beaconHeight }) => beaconHeight <= final);
    return new Map(below.map((each) => [each.beaconHeight, each]));
  }

  /** The lowest recorded block, or the first head: everything above it is read that is still stored. */
  function lowestKnown({ firstHeight }: Tip): BeaconHeight {
    return Math.min(recorder.recorded.tradeCoverage()?.first.beaconHeight ?? firstHeight, firstHeight);
  }

  async function missing(tip: Tip, last: number): Promise<Iterable<BeaconHeight>> {
    const { head } = tip;
    // While V1 trades, there are none.
    if (head.exchange.v3 === undefined) return [];
    // A block that was read and not recorded may have had a wrong time.
    tooOld = recordedTooOld;
    await recorder.ready();
    const { first } = recorder.recorded.tradeCoverage() ?? {};
    const isReached = maxAgeMs === 0 || (first !== undefined && first.time <= newestTime(head) - maxAgeMs);
    const from = Math.max(isReached ? lowestKnown(tip) : 1, tooOld + 1);
    // Above the highest recorded state, nothing would show later that they are of a branch.
    const to = Math.min(newestFinal(head.beaconHeight), recorder.recorded.coverage()?.last.beaconHeight ?? 0);
    const heights = await store.missingTrades({ from, to }, last);
    const memory = inMemory(head);
    return heights.filter((height) => memory.get(height)?.exchange.v3 !== undefined || !memory.has(height));
  }

  function waitMs(height: BeaconHeight, { head }: Tip): number {
    if (inMemory(head).has(height)) return 0;
    // Not longer: after the pause, heads in memory are recorded too.
    if (mustPause()) return rate.lookEveryMs;
    bucket = refill(bucket, bytes, now());
    return Math.min(rate.lookEveryMs, msUntilAvailable(bucket, bytes, 1));
  }

  async function read(height: BeaconHeight, tip: Tip): Promise<TradedBlock> {
    const { head } = tip;
    const known = inMemory(head).get(height);
    if (known !== undefined) return toTradedBlock(known, await trades.of(known, BACKFILL));
    const block = await trades.readPast(height, head, (received) => {
      readBytes += received;
      bucket = drain(bucket, received);
    });
    reads += 1;
    // The first one that is too old is recorded too, if it is still stored: a volume since then needs it.
    const ageMs = height < lowestKnown(tip) ? maxAgeMs : storedForMs;
    if (block.time < newestTime(head) - ageMs) tooOld = Math.max(tooOld, height);
    return toTradedBlock(block, block.trades);
  }

  const loop = createBackfillLoop<TradedBlock>({
    missing,
    lowest: () => tooOld,
    waitMs,
    read,
    deletedBefore: store.deletedBefore,
    async record(blocks, _tip, isSure) {
      // Of the blocks that are too old only the first one is needed.
      const wanted = blocks.filter(({ beaconHeight }) => beaconHeight >= tooOld);
      const leftOut = wanted.length > 0 ? await recorder.recordTrades(wanted, isSure) : [];
      const isRecorded = isSure() && wanted.some(({ beaconHeight }) => beaconHeight === tooOld);
      if (isRecorded && !leftOut.includes(tooOld)) recordedTooOld = tooOld;
      return leftOut;
    },
    // Trades are not compared with the node later: a skipped height can hide a branch.
    isDoubtful: (before, head) => before.beaconHeight !== head.beaconHeight - 1 || isReplacedBy(before, head),
    isSame: (before, again) => before.hash === again.hash,
    mustEnd: () => !mayRun(),
    rate,
    leftOutForMs: 600_000,
  });
  recorder.recorded.onRecorded(loop.wakeAgain);

  return {
    ...loop,
    /** Number of blocks that were read from the nodes. */
    reads: () => reads,
    /** Their bytes, with those of responses that could not be read. */
    readBytes: () => readBytes,
  };
}

function toTradedBlock(
  { beaconHeight, hash, time }: Pick<Head, 'beaconHeight' | 'hash' | 'time'>,
  { trades, isComplete }: Pick<TradedBlock, 'trades' | 'isComplete'>,
): TradedBlock {
  return { beaconHeight, hash, time, trades, isComplete };
}
