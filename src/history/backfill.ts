import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { type BeaconHeight, newestFinal } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import { HeightNotAvailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import type { PastStates } from '../live/chain/past-states.ts';
import type { Recorder } from './recorder.ts';
import type { Coverage, FinalBlock, HeightRange, HistoryStore } from './store.ts';

/** Reads missing heights from the node: first those between recorded heights, then those below, from the newest down. */
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
  readonly recorder: Pick<Recorder, 'record' | 'ready'>;
  readonly pastStates: Pick<PastStates, 'readInBackground' | 'isComplete'>;
  /** Whether it has to wait: the node is unwell or limits calls, or clients need it. */
  readonly mustPause: () => boolean;
  /** Whether it reads at all: another replica of the fleet may. */
  readonly mayRun: () => boolean;
  /** How far below the newest block, by the times of blocks. */
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

/** How long it waits before it looks again whether it may go on. */
const PAUSE_MS = 250;

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

  function wake(head: Head): void {
    newest = head;
    firstHeight ??= head.beaconHeight;
    if (working !== undefined || timer !== undefined || mustEnd() || isImpossible || maxAgeMs === 0) return;
    mayLookAt ??= performance.now() + FIRST_LOOK_AFTER_MS;
    timer = setTimeout(start, Math.max(0, mayLookAt - performance.now()));
  }

  function start(): void {
    timer = undefined;
    working = fill()
      .catch(() => {})
      .finally(() => {
        isReading = false;
        mayLookAt = performance.now() + LOOK_EVERY_MS;
        working = undefined;
      });
  }

  const mustEnd = () => stopping.signal.aborted || !mayRun();

  /** Reads until nothing is missing. */
  async function fill(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (!mustEnd() && !isImpossible) {
      try {
        const missing = await lookForMissing();
        if (missing.length === 0) return;
        isReading = true;
        await readAll(missing);
        retryMs = FIRST_RETRY_MS;
      } catch {
        // A node or the database failed; both are logged where they are used.
        await sleep(retryMs);
        retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
      }
    }
  }

  /** Some of the missing heights, in the order in which they are read. */
  async function lookForMissing(): Promise<readonly BeaconHeight[]> {
    await recorder.ready();
    const head = newest;
    const coverage = await store.coverage(GAPS_AT_ONCE);
    if (head === undefined) return [];
    const oldest = head.time - maxAgeMs;
    // The recorder itself records the heights from its first head on.
    const highest = Math.min(newestFinal(head.beaconHeight), (firstHeight ?? 1) - 1);
    const lowest = lowestToRead();
    const isRead = (height: BeaconHeight) => height <= newestFinal(head.beaconHeight) && !isLeftOut(height);

    const found: BeaconHeight[] = [];
    for (const height of missingHeights(coverage, highest, oldest)) {
      if (height < lowest || found.length >= BLOCKS_AT_ONCE) break;
      if (isRead(height)) found.push(height);
    }
    return found;
  }

  /** All missing heights up to one, in the order in which they are read, also some that are too old or pruned. */
  function* missingHeights(
    coverage: Coverage | undefined,
    highest: BeaconHeight,
    oldest: Instant,
  ): Iterable<BeaconHeight> {
    if (coverage === undefined) return yield* heightsOf({ from: 1, to: highest });
    const { first, last, gaps } = coverage;
    yield* heightsOf({ from: last.beaconHeight + 1, to: highest });
    for (const gap of gaps) yield* heightsOf(gap);
    if (first.time > oldest) yield* heightsOf({ from: 1, to: first.beaconHeight - 1 });
  }

  function* heightsOf({ from, to }: HeightRange): Iterable<BeaconHeight> {
    const complete = completeHeights === 0 ? Number.POSITIVE_INFINITY : (firstHeight ?? 1) - completeHeights;
    yield* heightsToRead({ from: Math.max(from, complete), to }, 1);
    yield* heightsToRead({ from, to: Math.min(to, complete - 1) }, step);
  }

  /** Heights below it are pruned, or older than what is read. */
  function lowestToRead(): BeaconHeight {
    if (pruned !== undefined && performance.now() >= pruned.until) pruned = undefined;
    return Math.max(1, tooOld, (pruned?.height ?? 0) + 1);
  }

  async function readAll(heights: readonly BeaconHeight[]): Promise<void> {
    const blocks: FinalBlock[] = [];
    let failure: { readonly error: unknown } | undefined;
    for (let at = 0; at < heights.length && failure === undefined && !mustEnd(); at += rate.atOnce) {
      const head = await mayRead();
      if (head === undefined) break;
      const begunAt = performance.now();
      const some = heights.slice(at, at + rate.atOnce).filter((height) => height >= lowestToRead());
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
    const wanted = complete.filter(({ exchange: { beaconHeight } }) => beaconHeight >= tooOld);
    if (wanted.length > 0) for (const height of await recorder.record(wanted)) noteFailure(height);
    if (failure !== undefined) throw failure.error;
  }

  /** Waits until the node may be called. @returns the newest head; `undefined` if the backfill must end */
  async function mayRead(): Promise<Head | undefined> {
    while (mustPause() && !mustEnd()) await sleep(PAUSE_MS);
    return mustEnd() ? undefined : newest;
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
      return { hash: undefined, time: exchange.time, exchange };
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

/**
 * The heights of a range that are read, from the newest down: of a long range the multiples of the step, of a range that is
 * shorter than between two multiples all.
 */
export function* heightsToRead({ from, to }: HeightRange, step: number): Iterable<BeaconHeight> {
  const isShort = to - from + 1 < step - 1;
  const every = isShort ? 1 : step;
  for (let height = to - (to % every); height >= from; height -= every) yield height;
}
