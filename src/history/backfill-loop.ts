import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { BeaconHeight, TimedHeight } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import { HeightNotAvailableError } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import { MAX_BRANCH } from './branches.ts';

/** The newest head, and the height of the first one. */
export type Tip = { readonly head: Head; readonly firstHeight: BeaconHeight };

type LoopOptions<T> = {
  /** The missing heights in the order in which they are read, from the newest down; more than `last` are not needed. */
  readonly missing: (tip: Tip, last: number) => Promise<Iterable<BeaconHeight>>;
  /** The lowest height that is read, as far as it is known. */
  readonly lowest: (tip: Tip) => BeaconHeight;
  /** How long a height has to wait now. */
  readonly waitMs: (height: BeaconHeight, tip: Tip) => number;
  /** @throws HeightNotAvailableError if it is pruned, with all below it */
  readonly read: (height: BeaconHeight, tip: Tip) => Promise<T>;
  /** The time before which the history is deleted: blocks that are made before it cannot be recorded. */
  readonly deletedBefore: () => Promise<Instant>;
  /**
   * Records what was read. It may stop when `isSure` is false: a head has come that makes it doubtful. The rest is recorded later, if
   * it is of the chain.
   *
   * @returns the heights that could not be recorded
   */
  readonly record: (values: readonly T[], tip: Tip, isSure: () => boolean) => Promise<readonly BeaconHeight[]>;
  /** Whether a head shows that what was read below the one before may be of a branch. It is then forgotten, and read again. */
  readonly isDoubtful: (before: Head, head: Head) => boolean;
  /**
   * Whether two reads of a height show the same block. If there is such a check, only the highest block in doubt is read again, if it may
   * be read now. If it is the same, all blocks that were read before the head are of its chain, and nothing is forgotten.
   */
  readonly isSame?: (before: T, again: T) => boolean;
  /** Whether this gateway fills nothing now: another replica of the fleet may. */
  readonly mustEnd: () => boolean;
  readonly rate: BackfillRate;
  /** How long a height is left out after it has failed three times: nodes may be repaired or replaced. */
  readonly leftOutForMs: number;
};

/** How fast heights are read. */
export type BackfillRate = {
  /** Heights that are read at the same time. */
  readonly atOnce: number;
  /** Minimum pause after each read. It is also as long as the read took, so that the node rests half of the time. 0 for no pause. */
  readonly pauseMs: number;
  /** Minimum time from a look that has found nothing missing to the next one; `wakeAgain` does not wait for it. */
  readonly lookEveryMs: number;
  /** The first pause after a failure. Each further one is twice as long. */
  readonly firstRetryMs: number;
};

/** The rate for a real node. */
export const GENTLE: BackfillRate = { atOnce: 1, pauseMs: 250, lookEveryMs: 2_000, firstRetryMs: 1_000 };

/** The rate for the built-in sandbox: a day of heights within some seconds. */
export const QUICK: BackfillRate = { atOnce: 4, pauseMs: 0, lookEveryMs: 100, firstRetryMs: 250 };

/** How many missing heights are looked for at once. */
const HEIGHTS_PER_LOOK = 16;

const LAST_RETRY_MS = 60_000;

const MAX_FAILURES = 3;
const MAX_LEFT_OUT = 1_000;

/** Above all heights. */
const NO_DOUBT = Number.POSITIVE_INFINITY;

/** How long a pruned height, and those below it, are not read: a node may be replaced by one that has more. */
const PRUNED_FOR_MS = 3_600_000;

/** How long a failure of a pruned height counts. An hour after the third one, only this height is left out, and those below it are read. */
const HOLE_FOR_MS = 4 * PRUNED_FOR_MS;

/** Time from the first head to the first search, because clients wait for their first responses in that time. */
const FIRST_LOOK_AFTER_MS = 300;

/** Reads heights that are missing below the newest head, and looks again until none is missing. It does nothing before it is woken. */
export function createBackfillLoop<T extends TimedHeight>(options: LoopOptions<T>) {
  const { missing, lowest, waitMs, read, record, isDoubtful, isSame, mustEnd, rate, leftOutForMs } = options;
  const stopping = new AbortController();
  /**
   * How often heights failed, until they were left out for long enough. Reads that fail below one head count once: a node that makes no
   * new heads fails for all heights. `below` is the height of the head.
   */
  const failures = new LRUCache<BeaconHeight, { readonly count: number; readonly below: BeaconHeight }>({
    max: MAX_LEFT_OUT,
    ttl: leftOutForMs,
  });
  let tip: Tip | undefined;
  /** What was read and is not recorded yet. If the database fails, it is not read from the node again. */
  let unrecorded: T[] = [];
  /** What is unrecorded from this height on may be of a branch that was given up. */
  let doubtFrom = NO_DOUBT;
  /** What no node has any more, or what the history has deleted, with all below it. */
  let pruned: { readonly height: BeaconHeight; readonly until: number } | undefined;
  let storedFrom: Instant = 0;
  let isWorking = false;
  let isReading = false;
  let nextLookAt: number | undefined;
  let timer: NodeJS.Timeout | undefined;

  const isOver = () => stopping.signal.aborted || mustEnd();
  const isSure = () => doubtFrom === NO_DOUBT;

  async function start(): Promise<void> {
    timer = undefined;
    isWorking = true;
    await fill();
    isWorking = false;
    isReading = false;
    nextLookAt = performance.now() + rate.lookEveryMs;
  }

  async function fill(): Promise<void> {
    let retryMs = rate.firstRetryMs;
    while (tip !== undefined && !isOver()) {
      const current = tip;
      try {
        await recordAll(current);
        const heights = await lookForMissing(current);
        if (heights.length === 0 && tip === current) return;
        if (heights.length === 0) continue;
        isReading = true;
        await sleep(await readAll(heights, current));
        retryMs = rate.firstRetryMs;
      } catch {
        // A node or the database failed; both are logged where they are used.
        await sleep(retryMs);
        retryMs = Math.min(2 * retryMs, LAST_RETRY_MS);
      }
    }
  }

  async function lookForMissing(current: Tip): Promise<readonly BeaconHeight[]> {
    const found: BeaconHeight[] = [];
    for (const height of await missing(current, HEIGHTS_PER_LOOK + failures.size)) {
      if (height < lowestToRead(current) || found.length >= HEIGHTS_PER_LOOK) break;
      if ((failures.peek(height)?.count ?? 0) < MAX_FAILURES) found.push(height);
    }
    if (found.length > 0) storedFrom = await options.deletedBefore();
    return found;
  }

  /** Heights below it are pruned, or older than what is read. */
  function lowestToRead(current: Tip): BeaconHeight {
    if (pruned !== undefined && performance.now() >= pruned.until) pruned = undefined;
    return Math.max(lowest(current), (pruned?.height ?? 0) + 1);
  }

  /** Reads and records heights, as long as it may. @returns how long it waits then: 0 if it has read one */
  async function readAll(heights: readonly BeaconHeight[], current: Tip): Promise<number> {
    let failure: PromiseRejectedResult | undefined;
    let pauseMs = 0;
    let at = 0;
    // What is in doubt is settled before anything else is read: nothing is read from a branch between two blocks of the chain.
    for (; at < heights.length && failure === undefined && isSure() && !isOver(); at += rate.atOnce) {
      const some = heights.slice(at, at + rate.atOnce).filter((height) => height >= lowestToRead(current));
      pauseMs = Math.max(0, ...some.map((height) => waitMs(height, current)));
      if (pauseMs > 0) break;
      const begunAt = performance.now();
      const results = await Promise.allSettled(some.map((height) => readOne(height, current)));
      for (const result of results)
        if (result.status === 'rejected') failure ??= result;
        // A head that came meanwhile may show that they are of a branch. The next look finds them missing.
        else unrecorded.push(...result.value.filter(({ beaconHeight }) => beaconHeight < doubtFrom));
      await rest(begunAt);
    }
    await recordAll(current);
    if (failure !== undefined) throw failure.reason;
    return at > 0 ? 0 : pauseMs;
  }

  async function recordAll(current: Tip): Promise<void> {
    await settleDoubts();
    if (unrecorded.length === 0) return;
    const leftOut = await record(unrecorded, current, isSure);
    // Some may not be written then. The others are skipped when they are recorded again.
    if (!isSure()) return;
    for (const height of leftOut) noteFailure(height, current);
    unrecorded = [];
  }

  /** Forgets what may be of a branch, unless the highest block of it is still the block of its height. */
  async function settleDoubts(): Promise<void> {
    while (!isSure()) {
      const from = doubtFrom;
      doubtFrom = NO_DOUBT;
      // Heights are read from the newest down.
      const highest = unrecorded.find(({ beaconHeight }) => beaconHeight >= from);
      if (highest !== undefined && (await isStillThere(highest))) continue;
      unrecorded = unrecorded.filter(({ beaconHeight }) => beaconHeight < from);
    }
  }

  /** Reads a block again. @returns whether it is the same; `false` also if it may not be read now */
  async function isStillThere(block: T): Promise<boolean> {
    const { beaconHeight } = block;
    if (isSame === undefined || tip === undefined || isOver() || waitMs(beaconHeight, tip) > 0) return false;
    const begunAt = performance.now();
    const again = await read(beaconHeight, tip).catch(() => undefined);
    await rest(begunAt);
    return again !== undefined && isSame(block, again);
  }

  /** @returns nothing for a height that is pruned or deleted @throws if another read of the height can succeed soon */
  async function readOne(height: BeaconHeight, current: Tip): Promise<readonly T[]> {
    try {
      const block = await read(height, current);
      if (block.time >= storedFrom) return [block];
    } catch (error) {
      if (!(error instanceof HeightNotAvailableError)) {
        if (failures.peek(height)?.below !== current.head.beaconHeight) noteFailure(height, current);
        throw error;
      }
    }
    // If a node lacks only this height, those below it are read after three failures.
    noteFailure(height, current, HOLE_FOR_MS);
    pruned = { height: Math.max(height, pruned?.height ?? 0), until: performance.now() + PRUNED_FOR_MS };
    return [];
  }

  function noteFailure(height: BeaconHeight, { head }: Tip, ttl = leftOutForMs): void {
    failures.set(height, { count: (failures.get(height)?.count ?? 0) + 1, below: head.beaconHeight }, { ttl });
  }

  /** The pause after a read. */
  async function rest(begunAt: number): Promise<void> {
    if (rate.pauseMs > 0) await sleep(Math.max(rate.pauseMs, performance.now() - begunAt));
    else await nextTurn();
  }

  async function sleep(ms: number): Promise<void> {
    if (ms > 0) await wait(ms, undefined, { signal: stopping.signal }).catch(() => {});
  }

  function wake(head: Head): void {
    if (tip !== undefined && tip.head !== head && isDoubtful(tip.head, head))
      doubtFrom = Math.min(doubtFrom, head.beaconHeight - MAX_BRANCH);
    tip = { head, firstHeight: tip?.firstHeight ?? head.beaconHeight };
    if (isWorking || timer !== undefined || isOver()) return;
    nextLookAt ??= performance.now() + FIRST_LOOK_AFTER_MS;
    timer = setTimeout(start, Math.max(0, nextLookAt - performance.now()));
  }

  return {
    /** Starts to look for heights that are missing below a head, unless it reads already. Called with each head that is published. */
    wake,
    /** Looks again below the newest head, at once if nothing is read then. Called when there is more to look for. */
    wakeAgain(): void {
      if (tip === undefined) return;
      nextLookAt = performance.now();
      wake(tip.head);
    },
    /** Whether it is reading missing heights now. It may pause in between. */
    isReading: () => isReading,
    stop(): void {
      stopping.abort();
      clearTimeout(timer);
    },
  };
}
