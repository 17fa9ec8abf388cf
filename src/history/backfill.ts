import { type BeaconHeight, newestFinal } from '../domain/beacon-height.ts';
import { type ExchangeState, versionOf } from '../domain/exchange.ts';
import type { Head } from '../live/chain/head.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import { createFiller, type Filler, type FillerRate, PAUSE_MS } from './filler.ts';
import { missingHeights } from './missing-heights.ts';
import type { Recorder } from './recorder.ts';
import type { HistoryStore } from './store.ts';

/**
 * Reads the heights from the node that the recorder has not recorded, from the newest down: those above the recorded heights, those
 * between them, then those below.
 */
export type Backfill = Filler & {
  /** Number of heights that were read. */
  reads(): number;
};

type BackfillOptions = {
  readonly store: Pick<HistoryStore, 'coverage'>;
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
  readonly rate: FillerRate;
};

/** A state that was read, and when its block was made. */
type TimedState = { readonly exchange: ExchangeState; readonly time: number };

/** Gaps that are looked at together, the newest ones. */
const GAPS_AT_ONCE = 1_000;

/** The newest heights are urgent, if the gateway runs since then: they are read also while others have to wait. */
const URGENT_HEIGHTS = 64;

/** Creates the backfill. It does nothing before it is woken. */
export function createBackfill(options: BackfillOptions): Backfill {
  const { store, recorder, pastStates, mustPause, mayRun, maxAgeMs, step, completeHeights, rate } = options;
  const { readInBackground: readFinal, isComplete } = pastStates;
  let firstHeight: BeaconHeight | undefined;
  /** The highest height that was made before the time that is read. */
  let tooOld = 0;
  let reads = 0;
  /** Set for good if the states of the node have no time. */
  let isImpossible = false;

  const urgentFrom = ({ beaconHeight }: Head) => Math.max(firstHeight ?? 1, beaconHeight - URGENT_HEIGHTS);
  const lowest = (head: Head) => (maxAgeMs === 0 ? urgentFrom(head) : Math.min(tooOld, urgentFrom(head)));

  async function missing(head: Head): Promise<Iterable<BeaconHeight>> {
    await recorder.ready();
    // Before the coverage is read: what is recorded meanwhile is in one of them.
    const waiting = recorder.waiting();
    const coverage = await store.coverage(GAPS_AT_ONCE);
    const completeFrom = completeHeights === 0 ? Number.POSITIVE_INFINITY : (firstHeight ?? 1) - completeHeights;
    const [highest, oldest] = [newestFinal(head.beaconHeight), head.time - maxAgeMs];
    const heights = missingHeights(coverage, { highest, urgentFrom: urgentFrom(head), oldest, step, completeFrom });
    return Iterator.from(heights).filter((height) => !waiting.has(height));
  }

  async function read(height: BeaconHeight, head: Head): Promise<TimedState | undefined> {
    const exchange = await readFinal(height, head);
    reads += 1;
    const { time } = exchange;
    if (time === undefined) isImpossible = true;
    if (time === undefined) return undefined;
    // The first height that is too old is recorded too: changes since the beginning of the time need it.
    if (isComplete(exchange) && time < head.time - maxAgeMs) tooOld = Math.max(tooOld, height);
    return { exchange, time };
  }

  async function record(states: readonly TimedState[], head: Head): Promise<readonly BeaconHeight[]> {
    // Lower heights, which were read meanwhile, may show that a state has lost pools.
    const complete = states.filter(({ exchange }) => isComplete(exchange));
    const incomplete = states.filter((state) => !complete.includes(state));
    const blocks = complete
      // Of the heights that are too old only the first one is needed.
      .filter(({ exchange }) => exchange.beaconHeight >= lowest(head))
      .map(({ exchange, time }) => ({ hash: undefined, time, version: versionOf(exchange), exchange }));
    const leftOut = blocks.length > 0 ? await recorder.record(blocks) : [];
    return [...incomplete.map(({ exchange }) => exchange.beaconHeight), ...leftOut];
  }

  const filler = createFiller<TimedState>({
    missing,
    lowest,
    waitMs: (height, head) => (height < urgentFrom(head) && mustPause() ? PAUSE_MS : 0),
    read,
    record,
    mustEnd: () => !mayRun() || isImpossible,
    rate,
  });

  return {
    ...filler,
    wake(head) {
      firstHeight ??= head.beaconHeight;
      filler.wake(head);
    },
    reads: () => reads,
  };
}
