import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type BeaconHeight, newestFinal } from '../domain/beacon-height.ts';
import { versionOf } from '../domain/exchange.ts';
import { HeightNotAvailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import { missingHeights } from './missing-heights.ts';
import type { Recorder } from './recorder.ts';
import type { FinalBlock, HistoryStore } from './store.ts';

/**
 * Reads the heights from the node that the recorder has not recorded, from the newest down: those above the recorded heights, those
 * between them, then those below.
 */
export type Backfill = {
  /** Starts to look for heights that are missing below a head, unless it reads already. Called with each head that is published. */
  wake(head: Head): void;
  /** Whether it is reading missing heights now. It may pause in between. */
  isReading(): boolean;
  /** Number of heights that were read. */
  reads(): number;
  stop(): void;
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
  readonly rate: BackfillRate;
};

/** How fast heights are read. */
type BackfillRate = {
  /** Heights that are read at the same time. */
  readonly atOnce: number;
  /** Minimum pause after each read. A pause is at least as long as the read took, so that the node rests half of the time. */
  readonly pauseMs: number;
};

/** The rate for a real node. */
export const GENTLE: BackfillRate = { atOnce: 1, pauseMs: 250 };

/** The rate for the built-in sandbox: a day of heights within some seconds. */
export const QUICK: BackfillRate = { atOnce: 4, pauseMs: 0 };

/** Gaps that are looked at together, the newest ones. */
const GAPS_AT_ONCE = 1_000;

/** Blocks that are given to the database together. */
const BLOCKS_AT_ONCE = 16;

/** The newest heights are urgent, if the gateway runs since then: they are read also while others have to wait. */
const URGENT_HEIGHTS = 64;

/** How long it waits before it looks again whether it may go on. */
const PAUSE_MS = 500;

/** Pauses after a failure: the first, and the longest. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

/** After this number of failures, a height is left out for a time: nodes may be repaired or replaced. */
const MAX_FAILURES = 3;
const LEFT_OUT_FOR_MS = 3_600_000;
const MAX_LEFT_OUT = 1_000;

/** A node that has pruned a height may be replaced by one that has more. */
const PRUNED_FOR_MS = 3_600_000;

/** Minimum time between two looks for missing heights. */
const LOOK_EVERY_MS = 2_000;

/** Time from the first head to the first search, because clients wait for their first responses in that time. */
const FIRST_LOOK_AFTER_MS = 300;

/** Creates the backfill. It does nothing before it is woken. */
export function createBackfill(options: BackfillOptions): Backfill {
  const { store, recorder, pastStates, mustPause, mayRun, maxAgeMs, step, completeHeights, rate } = options;
  const { readInBackground: readFinal, isComplete } = pastStates;
  const stopping = new AbortController();
  /** Heights that failed: how often, and when last, in milliseconds of `performance.now()`. */
  const failures = new LRUCache<BeaconHeight, { readonly times: number; readonly lastAt: number }>({
    max: MAX_LEFT_OUT,
  });
  let newest: Head | undefined;
  let firstHeight: BeaconHeight | undefined;
  let pruned: { readonly height: BeaconHeight; readonly until: number } | undefined;
  /** The highest height that was made before the time that is read. */
  let tooOld = 0;
  let working: Promise<void> | undefined;
  let isReading = false;
  let reads = 0;
  let mayLookAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  /** Set for good if the states of the node have no time. */
  let isImpossible = false;

  const mustEnd = () => stopping.signal.aborted || !mayRun() || isImpossible;
  const urgentFrom = ({ beaconHeight }: Head) => Math.max(firstHeight ?? 1, beaconHeight - URGENT_HEIGHTS);

  function wake(head: Head): void {
    newest = head;
    firstHeight ??= head.beaconHeight;
    if (working !== undefined || timer !== undefined || mustEnd()) return;
    mayLookAt ??= performance.now() + FIRST_LOOK_AFTER_MS;
    timer = setTimeout(start, Math.max(0, mayLookAt - performance.now()));
  }

  function start(): void {
    timer = undefined;
    working = fill().finally(() => {
      isReading = false;
      mayLookAt = performance.now() + LOOK_EVERY_MS;
      working = undefined;
    });
  }

  /** Reads until nothing is missing. */
  async function fill(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (newest !== undefined && !mustEnd()) {
      const head = newest;
      try {
        const missing = await lookForMissing(head);
        if (missing.length === 0 && newest === head) return;
        if (missing.length === 0) continue;
        isReading = true;
        if (!(await readAll(missing, head))) await sleep(PAUSE_MS);
        retryMs = FIRST_RETRY_MS;
      } catch {
        // A node or the database failed; both are logged where they are used.
        await sleep(retryMs);
        retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
      }
    }
  }

  /** Some of the missing heights, in the order in which they are read. */
  async function lookForMissing(head: Head): Promise<readonly BeaconHeight[]> {
    await recorder.ready();
    // Before the coverage is read: what is recorded meanwhile is in one of them.
    const waiting = recorder.waiting();
    const coverage = await store.coverage(GAPS_AT_ONCE);
    const lowest = lowestToRead(head);
    const completeFrom = completeHeights === 0 ? Number.POSITIVE_INFINITY : (firstHeight ?? 1) - completeHeights;
    const found: BeaconHeight[] = [];
    const [highest, oldest] = [newestFinal(head.beaconHeight), head.time - maxAgeMs];
    const options = { highest, urgentFrom: urgentFrom(head), oldest, step, completeFrom };
    for (const height of missingHeights(coverage, options)) {
      if (height < lowest || found.length >= BLOCKS_AT_ONCE) break;
      if (!waiting.has(height) && !isLeftOut(height)) found.push(height);
    }
    return found;
  }

  /** Heights below it are pruned, or older than what is read. */
  function lowestToRead(head: Head): BeaconHeight {
    if (pruned !== undefined && performance.now() >= pruned.until) pruned = undefined;
    return Math.max(oldestToRead(head), (pruned?.height ?? 0) + 1);
  }

  function oldestToRead(head: Head): BeaconHeight {
    return maxAgeMs === 0 ? urgentFrom(head) : Math.min(tooOld, urgentFrom(head));
  }

  /** Reads heights, as long as it may. @returns whether it has read one */
  async function readAll(heights: readonly BeaconHeight[], head: Head): Promise<boolean> {
    const mayRead = (height: BeaconHeight) => height >= urgentFrom(head) || !mustPause();
    const blocks: FinalBlock[] = [];
    let failure: { readonly error: unknown } | undefined;
    let at = 0;
    for (; at < heights.length && failure === undefined; at += rate.atOnce) {
      const some = heights.slice(at, at + rate.atOnce).filter((height) => height >= lowestToRead(head));
      if (mustEnd() || !some.every(mayRead)) break;
      const begunAt = performance.now();
      const results = await Promise.all(some.map((height) => readOne(height, head)));
      blocks.push(...results.filter((result) => result !== undefined && 'exchange' in result));
      failure = results.find((result) => result !== undefined && 'error' in result);
      if (rate.pauseMs > 0) await sleep(Math.max(rate.pauseMs, performance.now() - begunAt));
      else await nextTurn();
    }
    // Lower heights, which were read meanwhile, may show that a state has lost pools.
    const complete = blocks.filter(({ exchange }) => isComplete(exchange));
    for (const { exchange } of blocks.filter((block) => !complete.includes(block))) noteFailure(exchange.beaconHeight);
    // Of the heights that are too old only the first one is needed.
    const wanted = complete.filter(({ exchange: { beaconHeight } }) => beaconHeight >= oldestToRead(head));
    if (wanted.length > 0) for (const height of await recorder.record(wanted)) noteFailure(height);
    if (failure !== undefined) throw failure.error;
    return at > 0;
  }

  /** @returns `undefined` for a height that cannot be recorded, and why a height could not be read */
  async function readOne(height: BeaconHeight, head: Head): Promise<FinalBlock | { error: unknown } | undefined> {
    try {
      const exchange = await readFinal(height, head);
      reads += 1;
      if (exchange.time === undefined) isImpossible = true;
      if (!isComplete(exchange)) noteFailure(height);
      if (exchange.time === undefined || !isComplete(exchange)) return undefined;
      // The first height that is too old is recorded too: changes since the beginning of the time need it.
      if (exchange.time < head.time - maxAgeMs) tooOld = Math.max(tooOld, height);
      return { hash: undefined, time: exchange.time, version: versionOf(exchange), exchange };
    } catch (error) {
      if (error instanceof HeightNotAvailableError) {
        pruned = { height: Math.max(height, pruned?.height ?? 0), until: performance.now() + PRUNED_FOR_MS };
        return undefined;
      }
      noteFailure(height);
      return { error };
    }
  }

  function isLeftOut(height: BeaconHeight): boolean {
    const { times = 0, lastAt = 0 } = failures.peek(height) ?? {};
    return times >= MAX_FAILURES && performance.now() - lastAt < LEFT_OUT_FOR_MS;
  }

  function noteFailure(height: BeaconHeight): void {
    const { times = 0 } = failures.get(height) ?? {};
    failures.set(height, { times: times + 1, lastAt: performance.now() });
  }

  /** Waits, at most until it is stopped. */
  async function sleep(ms: number): Promise<void> {
    await wait(ms, undefined, { signal: stopping.signal }).catch(() => {});
  }

  return {
    wake,
    isReading: () => isReading,
    reads: () => reads,
    stop() {
      stopping.abort();
      clearTimeout(timer);
    },
  };
}
