import { LRUCache } from 'lru-cache';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import { firstIndexWhere } from '../domain/binary-search.ts';
import type { ExchangeState } from '../domain/exchange.ts';
import type { Instant } from '../domain/instant.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import type { History } from '../history/history.ts';

/** A recorded height, as the newest one at some moment. */
type BlockAtMoment = {
  readonly beaconHeight: BeaconHeight;
  readonly time: Instant;
  /** Whether it stays the newest one at that moment: the next height is recorded too. */
  readonly isSettled: boolean;
  /** Whether no later height is recorded, so that one in memory can be newer at that moment. */
  readonly isNewest: boolean;
};

/** The exchange at the start of a window. */
export type WindowStart = BlockAtMoment & {
  readonly exchange: ExchangeState;
  /** Whether its block was made at or before the start of the window: nothing older is recorded otherwise. */
  readonly isAtStart: boolean;
};

/**
 * What was recorded at moments in the past, read once for all clients: the starts of windows move by about one block with each
 * height, and all pools of the exchange share them. All throw HistoryUnavailableError.
 */
export type WindowStarts = {
  /** The newest recorded height at or before a moment; `undefined` if nothing older is recorded. */
  blockAt(moment: Instant): MaybePromise<BlockAtMoment | undefined>;
  /**
   * The exchange at the start of a window of that length: at the newest recorded height at or before it, or at the first
   * recorded one. `undefined` while nothing is recorded.
   */
  stateAt(end: Instant, lengthMs: number): MaybePromise<WindowStart | undefined>;
  /** The number of reads that have ended. What had to wait before may be in memory after another one. */
  reads(): number;
};

/** Blocks whose times are remembered: those of a few charts with 500 points. */
const MAX_BLOCKS = 4_096;

/** States in memory: those of a few windows, and the next ones of each. A state has 16 bytes a pool. */
const MAX_STATES = 16;

/** Lengths of windows whose starts are read again when something has been recorded. */
const MAX_LENGTHS = 4;

/** How many states after the one that a window starts with are read in advance. */
const READ_AHEAD = 2;

/** What the history was when something was read. What the newest height decides changes with each new one. */
type ReadFrom = { readonly version: number; readonly fills: number };

/** A recorded height, and the next recorded one. */
type Span = {
  readonly block: Pick<BlockAtMoment, 'beaconHeight' | 'time'>;
  readonly next: Pick<BlockAtMoment, 'beaconHeight' | 'time'> | undefined;
  readonly isSettled: boolean;
  readonly read: ReadFrom;
};

/** Creates the window starts of a history; nothing is read yet. */
export function createWindowStarts(
  history: Pick<History, 'blockAt' | 'stateAt' | 'coverage' | 'version' | 'fills' | 'unrecorded' | 'onRecorded'>,
): WindowStarts {
  /** Ascending by the time of the block. */
  let spans: Span[] = [];
  let first: { readonly value: BlockAtMoment | undefined; readonly read: ReadFrom } | undefined;
  const states = new LRUCache<BeaconHeight, ExchangeState>({ max: MAX_STATES });
  const statesUnderWay = new Map<BeaconHeight, Promise<ExchangeState | undefined>>();
  const blocksUnderWay = new Map<string, Promise<Span | undefined>>();
  const firstUnderWay = new Map<number, Promise<BlockAtMoment | undefined>>();
  const readAheadOf = new WeakSet<Span>();
  const lengths = new LRUCache<number, true>({ max: MAX_LENGTHS });
  let reads = 0;
  /** The start that was requested last: all pools of a page have the same. */
  let last: { readonly moment: Instant; readonly start: WindowStart; readonly read: ReadFrom } | undefined;

  function readFrom(): ReadFrom {
    return { version: history.version(), fills: history.fills() };
  }

  /** Whether reading it again would give the same. @param isNewest whether a height above all others changes it */
  function isCurrent({ version, fills }: ReadFrom, isNewest: boolean): boolean {
    return isNewest ? version === history.version() : fills === history.fills();
  }

  /** Reads once for all that need it at the same time. */
  function shareRead<K, V>(underWay: Map<K, Promise<V>>, key: K, read: () => Promise<V>): Promise<V> {
    const known = underWay.get(key);
    if (known !== undefined) return known;
    const reading = read().finally(() => {
      underWay.delete(key);
      reads += 1;
    });
    underWay.set(key, reading);
    return reading;
  }

  /** The span of a moment, without waiting. */
  function knownSpan(moment: Instant): Span | undefined {
    const span = spans[firstAfter(moment) - 1];
    if (span === undefined || !(span.isSettled || isCurrent(span.read, span.next === undefined))) return undefined;
    return span.next === undefined || moment < span.next.time ? span : undefined;
  }

  /** The index of the first span whose block was made after a moment. */
  function firstAfter(moment: Instant): number {
    return firstIndexWhere(spans.length, (index) => (spans[index] as Span).block.time > moment);
  }

  function addSpan(span: Span): void {
    if (spans.length >= MAX_BLOCKS) spans = [];
    const index = firstAfter(span.block.time);
    // Blocks can have the same time: the newest of them counts.
    const replaces = spans[index - 1]?.block.time === span.block.time;
    spans.splice(replaces ? index - 1 : index, replaces ? 1 : 0, span);
  }

  function readSpan(moment: Instant): Promise<Span | undefined> {
    const from = readFrom();
    return shareRead(blocksUnderWay, `${from.version}:${moment}`, async () => {
      const found = await history.blockAt(moment);
      if (found === undefined) return undefined;
      const { block, next } = found;
      const isSettled = next?.beaconHeight === block.beaconHeight + 1;
      const span = { block, next, isSettled, read: from };
      addSpan(span);
      return span;
    });
  }

  function spanAt(moment: Instant): MaybePromise<Span | undefined> {
    return isBeforeFirst(moment) ? undefined : (knownSpan(moment) ?? readSpan(moment));
  }

  /** Whether it is known that nothing is recorded at or before a moment. */
  function isBeforeFirst(moment: Instant): boolean {
    const known = knownFirst();
    return known !== undefined && (known.value === undefined || moment < known.value.time);
  }

  function readFirst(): Promise<BlockAtMoment | undefined> {
    const from = readFrom();
    return shareRead(firstUnderWay, from.version, async () => {
      const coverage = await history.coverage(0);
      const value = coverage && { ...coverage.first, isSettled: false, isNewest: false };
      first = { value, read: from };
      return value;
    });
  }

  /** The first recorded height, without waiting. */
  function knownFirst(): typeof first {
    return first !== undefined && isCurrent(first.read, first.value === undefined) ? first : undefined;
  }

  function firstBlock(): MaybePromise<BlockAtMoment | undefined> {
    const known = knownFirst();
    return known === undefined ? readFirst() : known.value;
  }

  function readState(height: BeaconHeight): Promise<ExchangeState | undefined> {
    return shareRead(statesUnderWay, height, async () => {
      const state = await history.stateAt(height);
      if (state !== undefined) states.set(height, state);
      return state;
    });
  }

  function startOf(block: BlockAtMoment, isAtStart: boolean): MaybePromise<WindowStart | undefined> {
    const toStart = (exchange: ExchangeState | undefined) => exchange && { ...block, exchange, isAtStart };
    const known = states.get(block.beaconHeight);
    return known === undefined ? readState(block.beaconHeight).then(toStart) : toStart(known);
  }

  /** Reads what the windows of the next heights will start with, once. */
  async function readAhead(span: Span): Promise<void> {
    if (readAheadOf.has(span)) return;
    readAheadOf.add(span);
    let block = span.next;
    for (let count = 0; count < READ_AHEAD && block !== undefined; count++) {
      if (!states.has(block.beaconHeight)) await readState(block.beaconHeight);
      block = (await spanAt(block.time))?.next;
    }
  }

  function findStart(moment: Instant): MaybePromise<WindowStart | undefined> {
    return andThen(spanAt(moment), (span) => {
      if (span === undefined) return andThen(firstBlock(), (block) => block && startOf(block, false));
      // An error is reported when the state is needed.
      readAhead(span).catch(() => {});
      return startOf(toBlock(span), true);
    });
  }

  /** Reads the starts of the usual windows of the newest head, so that its pages need not wait for them. */
  function readUsual(): void {
    const newest = history.unrecorded().at(-1);
    if (newest === undefined) return;
    for (const lengthMs of lengths.keys()) Promise.resolve(findStart(newest.time - lengthMs)).catch(() => {});
  }
  history.onRecorded(readUsual);

  return {
    reads: () => reads,
    blockAt: (moment) => andThen(spanAt(moment), (span) => span && toBlock(span)),
    stateAt(end, lengthMs) {
      const moment = end - lengthMs;
      if (last?.moment === moment && (last.start.isSettled || isCurrent(last.read, last.start.isNewest)))
        return last.start;
      const from = readFrom();
      lengths.set(lengthMs, true);
      return andThen(findStart(moment), (start) => {
        last = start && { moment, start, read: from };
        return start;
      });
    },
  };
}

function toBlock({ block: { beaconHeight, time }, next, isSettled }: Span): BlockAtMoment {
  return { beaconHeight, time, isSettled, isNewest: next === undefined };
}
