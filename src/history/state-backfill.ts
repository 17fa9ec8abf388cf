import { type BeaconHeight, type HeightRange, newestFinal } from '../domain/beacon-height.ts';
import { isReplacedBy } from '../domain/chain.ts';
import { type ExchangeState, versionOf } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { UpstreamBadShapeError } from '../errors.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import { type BackfillRate, createBackfillLoop, type Tip } from './backfill-loop.ts';
import { newestTime, type Recorder } from './recorder.ts';
import type { HistoryStore } from './store.ts';

/** The backfill of states. */
export type StateBackfill = ReturnType<typeof createStateBackfill>;

type BackfillOptions = {
  readonly store: Pick<HistoryStore, 'coverage' | 'deletedBefore'>;
  readonly recorder: Pick<Recorder, 'record' | 'ready' | 'waiting'>;
  readonly pastStates: Pick<PastStates, 'readInBackground' | 'isComplete'>;
  /** Whether heights that are not urgent have to wait: the node is unwell or limits calls, or clients need it. */
  readonly mustPause: () => boolean;
  /** Whether it reads at all: another replica of the fleet may. */
  readonly mayRun: () => boolean;
  /** How far below the newest block, by the times of blocks; with 0, only urgent heights are read. */
  readonly maxAgeMs: number;
  /** The step between the heights that are read in a long gap. Shorter gaps are filled completely. */
  readonly step: number;
  /** How many heights below the first head are read without a step; 0 for none. */
  readonly completeHeights: number;
  readonly rate: BackfillRate;
};

/** A state that was read, and when its block was made. */
type TimedState = ExchangeState & { readonly time: Instant };

/** Gaps that are looked at together, the newest ones. */
const GAPS_AT_ONCE = 1_000;

/** How long heights that are not urgent wait until the node is looked at again. */
const PAUSED_FOR_MS = 500;

/** The newest heights are urgent, if the gateway runs since then: they are read also while others have to wait. */
const URGENT_HEIGHTS = 64;

/**
 * Reads the heights from the node that the recorder has not recorded, from the newest down: those above the recorded heights, those
 * between them, then those below. It does nothing before it is woken.
 */
export function createStateBackfill(options: BackfillOptions) {
  const { store, recorder, pastStates, mustPause, mayRun, maxAgeMs, step, completeHeights, rate } = options;
  const { readInBackground: readFinal, isComplete } = pastStates;
  /** The highest recorded height that was made before the time that is read. */
  let recordedTooOld = 0;
  /** The same, with the heights of the current reads: until they are recorded, their times may be wrong. */
  let tooOld = 0;
  let reads = 0;
  /** Set for good if the states of the node have no time: neither an earlier one nor that of the head. */
  let isImpossible = false;

  const urgentFrom = ({ head, firstHeight }: Tip) => Math.max(firstHeight, head.beaconHeight - URGENT_HEIGHTS);
  const lowest = (tip: Tip) => (maxAgeMs === 0 ? urgentFrom(tip) : Math.min(tooOld, urgentFrom(tip)));

  /** All missing heights, from the newest down. Some are older than is read, or pruned. */
  async function missing(tip: Tip): Promise<Iterable<BeaconHeight>> {
    const { head, firstHeight } = tip;
    // A height that was read and not recorded may have had a wrong time.
    tooOld = recordedTooOld;
    await recorder.ready();
    // Before the coverage is read: what is recorded meanwhile is in one of them.
    const waiting = recorder.waiting();
    // What a step leaves behind stays as it is, and must not hide the gaps below it.
    const stepOfGaps = completeHeights === 0 ? step : 1;
    const { first, last, gaps = [] } = (await store.coverage(GAPS_AT_ONCE, stepOfGaps)) ?? {};
    const ranges = [{ from: (last?.beaconHeight ?? 0) + 1, to: newestFinal(head.beaconHeight) }, ...gaps];
    // Those below the recorded heights, unless these reach the time that is read.
    const lowestFrom = first !== undefined && first.time > newestTime(head) - maxAgeMs ? 1 : urgentFrom(tip);
    if (first !== undefined) ranges.push({ from: lowestFrom, to: first.beaconHeight - 1 });
    const completeFrom = completeHeights === 0 ? Number.POSITIVE_INFINITY : firstHeight - completeHeights;
    const heights = ranges.values().flatMap(function* ({ from, to }) {
      yield* heightsToRead({ from: Math.max(from, completeFrom), to }, 1);
      yield* heightsToRead({ from, to: Math.min(to, completeFrom - 1) }, step);
    });
    return heights.filter((height) => !waiting.has(height));
  }

  async function read(height: BeaconHeight, { head }: Tip): Promise<TimedState> {
    const exchange = await readFinal(height, head);
    reads += 1;
    const { time } = exchange;
    isImpossible ||= time === undefined && head.exchange.time === undefined;
    if (time === undefined) throw new UpstreamBadShapeError('NODE', 'its exchange states have no time');
    // The first height that is too old is recorded too: changes since the beginning of the time need it.
    if (isComplete(exchange) && time < newestTime(head) - maxAgeMs) tooOld = Math.max(tooOld, height);
    return { ...exchange, time };
  }

  async function record(states: readonly TimedState[], tip: Tip): Promise<readonly BeaconHeight[]> {
    // Lower heights, which were read meanwhile, may show that a state has lost pools.
    const incomplete = new Set(states.filter((state) => !isComplete(state)));
    // Of the heights that are too old only the first one is needed.
    const blocks = states
      .filter((state) => !incomplete.has(state) && state.beaconHeight >= lowest(tip))
      .map((exchange) => ({ hash: undefined, time: exchange.time, version: versionOf(exchange), exchange }));
    const leftOut = blocks.length > 0 ? await recorder.record(blocks) : [];
    if (blocks.some(({ exchange }) => exchange.beaconHeight === tooOld) && !leftOut.includes(tooOld))
      recordedTooOld = tooOld;
    return [...Array.from(incomplete, ({ beaconHeight }) => beaconHeight), ...leftOut];
  }

  const loop = createBackfillLoop<TimedState>({
    missing,
    lowest,
    waitMs: (height, tip) => (height < urgentFrom(tip) && mustPause() ? PAUSED_FOR_MS : 0),
    read,
    deletedBefore: store.deletedBefore,
    record,
    // A skipped height is no sign of a branch. Where blocks are faster than the polls, each head skips some. The recorder compares
    // states near skipped heights with the node.
    isDoubtful: isReplacedBy,
    mustEnd: () => !mayRun() || isImpossible,
    rate,
    // A state has up to 30 MB.
    leftOutForMs: 3_600_000,
  });

  return {
    ...loop,
    /** Number of heights that were read. */
    reads: () => reads,
  };
}

/**
 * The heights of a range that are read, from the newest down. In a long range, these are the multiples of the step. If a range has
 * fewer heights than there are between two multiples, all of them are read.
 */
export function* heightsToRead({ from, to }: HeightRange, step: number): Iterable<BeaconHeight> {
  const isShort = to - from + 1 < step - 1;
  const every = isShort ? 1 : step;
  for (let height = to - (to % every); height >= from; height -= every) yield height;
}
