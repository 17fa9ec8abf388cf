import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { BestBlock, ChainInfo } from '../../domain/chain.ts';
import { drain, fullBucket, type RateLimit, refill, type TokenBucket } from '../../domain/token-bucket.ts';
import { PAUSE_DOUBLINGS } from '../../upstream/circuit.ts';
import { afterResponse, NOTHING_RETAINED, type RetainedHeights, type StateResponse } from './retained-heights.ts';

/**
 * Everything that is known of one node. A record never changes: {@link nextRecord} makes the next one of each event. Times are
 * those of `performance.now()`.
 */
export type NodeRecord = {
  /** Its response to the last poll; `undefined` if that failed, before the first, and if another gateway has polled since. */
  readonly tip: ChainInfo | undefined;
  /** A tip above all that it has shown, which another gateway of the fleet has polled since this one did. */
  readonly received: ShownBlock | undefined;
  /** When it has first shown the tip. */
  readonly tipSince: number;
  /** When the poll in progress began. */
  readonly pollingSince: number | undefined;
  /** Why the last poll failed; `undefined` if it did not. */
  readonly failure: unknown;
  /** How many tips it has shown. */
  readonly tips: number;
  /** The newest blocks that it has shown as its tip, each with the number of the last tip that it was, in that order. */
  readonly blocks: readonly (ShownBlock & { readonly lastTip: number })[];
  /**
   * The highest height at which a block was shown again after another one, as by a load balancer in front of nodes with
   * different tips. `undefined` if there is none, or none within {@link MAX_SPLIT} blocks.
   */
  readonly splitAt: BeaconHeight | undefined;
  /** How reads of new blocks go. */
  readonly newBlocks: ReadHealth;
  /** How reads of earlier states go. */
  readonly pastStates: ReadHealth;
  /** Which earlier states it has. */
  readonly heights: RetainedHeights;
  /** The longest pause after reads that failed. */
  readonly maxPauseMs: number;
};

/** A block that a node showed as its tip. */
export type ShownBlock = Pick<BestBlock, 'height' | 'hash' | 'time'>;

/**
 * How reads of one kind go. The circuit breaker of the host covers a host that does not respond. This covers a node that
 * responds, also with its tip, and fails to give a state.
 */
type ReadHealth = {
  /** How many pauses there were since the last success. A read that fails during a pause is part of the same failure. */
  readonly pauses: number;
  /** Until when other nodes are read first. */
  readonly pausedUntil: number;
  /** The first error since the last success or the last pause; `undefined` if the node was only slow. */
  readonly lastError: unknown;
  /** How many errors -8000 or -14001 the gateway may still cause: nodes count them, and refuse clients that cause too many. */
  readonly errors: TokenBucket;
};

/** The kinds of reads. Each has its own pauses and its own budget of errors. */
export type ReadKind = 'newBlocks' | 'pastStates';

/** What happens to a node. */
export type NodeEvent =
  | { readonly type: 'poll began' }
  | { readonly type: 'tip polled'; readonly tip: ChainInfo }
  | { readonly type: 'poll failed'; readonly error: unknown }
  | { readonly type: 'tip received'; readonly block: ShownBlock }
  | { readonly type: 'read succeeded'; readonly kind: ReadKind }
  | ReadFailure
  /** It responded with error -8000 or -14001. */
  | { readonly type: 'error caused'; readonly kind: ReadKind }
  | { readonly type: 'state response'; readonly height: BeaconHeight; readonly response: StateResponse };

/** A read that failed, or that another node which was called later has overtaken. */
type ReadFailure = {
  readonly type: 'read failed';
  readonly kind: ReadKind;
  /** `undefined` if the node was overtaken. */
  readonly error: unknown;
  /** A random number from 0 to 1, so that several gateways do not come back at the same moment. */
  readonly jitter: number;
};

/** How many of the blocks that a node has shown are remembered. */
const BLOCKS_REMEMBERED = 64;

/** The longest branch that a load balancer can show, in blocks. */
const MAX_SPLIT = 64;

/**
 * How many errors reads of one kind may cause at once (`burst`), and how many more in each second: 140 in the first hour, and 120 in each
 * later one.
 */
export const ERROR_RATE: RateLimit = { burst: 20, pointsPerSecond: 2 / 60 };

/**
 * The budgets of reads, and how many errors a read that succeeds returns. Reads of new blocks return some, because a node behind a load
 * balancer can be late at every block.
 */
const BUDGETS: Readonly<Record<ReadKind, RateLimit & { readonly perSuccess: number }>> = {
  newBlocks: { burst: 12, pointsPerSecond: 1 / 60, perSuccess: 2 },
  pastStates: { ...ERROR_RATE, perSuccess: 0 },
};

/** Why a node is not called: its budget is used up. */
export const ERRORS_USED_UP = 'responded with too many errors in the last minutes, so the gateway limits its calls';

/** A block is given up after this number of tips that are not this block. */
const TIPS_UNTIL_GIVEN_UP = 4;
/** The same for a node that has shown two blocks of this height in turn. */
const TIPS_UNTIL_GIVEN_UP_IF_SPLIT = 16;

/** The record of a node of which nothing is known. */
export function emptyRecord(maxPauseMs: number, now: number): NodeRecord {
  const health = (kind: ReadKind): ReadHealth => ({
    pauses: 0,
    pausedUntil: Number.NEGATIVE_INFINITY,
    lastError: undefined,
    errors: fullBucket(BUDGETS[kind], now),
  });
  return {
    tip: undefined,
    received: undefined,
    tipSince: now,
    pollingSince: undefined,
    failure: undefined,
    tips: 0,
    blocks: [],
    splitAt: undefined,
    newBlocks: health('newBlocks'),
    pastStates: health('pastStates'),
    heights: NOTHING_RETAINED,
    maxPauseMs,
  };
}

/** The record after an event. */
export function nextRecord(record: NodeRecord, event: NodeEvent, now: number): NodeRecord {
  switch (event.type) {
    case 'poll began':
      return { ...record, pollingSince: now };
    case 'tip polled': {
      const polled = { tip: event.tip, received: undefined, pollingSince: undefined, failure: undefined };
      return { ...withShown(record, event.tip.beacon, now), ...polled };
    }
    case 'poll failed':
      return { ...record, tip: undefined, received: undefined, pollingSince: undefined, failure: event.error };
    case 'tip received':
      // Another one was perhaps polled before those that this node has shown. It would look as if the node showed it again.
      if (record.blocks.some(({ height }) => height >= event.block.height)) return record;
      return { ...withShown(record, event.block, now), tip: undefined, received: event.block };
    case 'read succeeded': {
      const errors = withErrors(record, event.kind, BUDGETS[event.kind].perSuccess, now);
      const well = { pauses: 0, pausedUntil: Number.NEGATIVE_INFINITY, lastError: undefined, errors };
      return { ...record, [event.kind]: well };
    }
    case 'read failed':
      return { ...record, [event.kind]: paused(record, event, now) };
    case 'error caused':
      return { ...record, [event.kind]: { ...record[event.kind], errors: withErrors(record, event.kind, -1, now) } };
    case 'state response':
      return { ...record, heights: afterResponse(record.heights, event.height, event.response, now) };
  }
}

function withShown(record: NodeRecord, { height, hash, time }: ShownBlock, now: number): NodeRecord {
  const tips = record.tips + 1;
  const last = record.blocks.findLast((block) => block.height === height);
  const isKnown = record.blocks.some((block) => block.hash === hash);
  const others = record.blocks.filter((block) => block.hash !== hash);
  const isShownAgain = isKnown && last?.hash !== hash;
  const splitAt = isShownAgain ? Math.max(height, record.splitAt ?? 0) : record.splitAt;
  return {
    ...record,
    tips,
    tipSince: shownTip(record)?.hash === hash ? record.tipSince : now,
    blocks: [...others, { height, hash, time, lastTip: tips }].slice(-BLOCKS_REMEMBERED),
    splitAt: splitAt !== undefined && height - splitAt < MAX_SPLIT ? splitAt : undefined,
  };
}

/** Reads that fail during a pause are part of one failure. Each pause lasts between half of its length and all of it. */
function paused(record: NodeRecord, { kind, error, jitter }: ReadFailure, now: number): ReadHealth {
  const health = record[kind];
  if (isPaused(health, now)) return { ...health, lastError: health.lastError ?? error };
  const pauseMs = record.maxPauseMs * 2 ** Math.min(0, health.pauses - PAUSE_DOUBLINGS);
  return { ...health, pauses: health.pauses + 1, pausedUntil: now + pauseMs * (0.5 + jitter / 2), lastError: error };
}

/** The budget can fall below zero, because all calls in progress can fail. What exceeds its size is dropped with the next refill. */
function withErrors(record: NodeRecord, kind: ReadKind, errors: number, now: number): TokenBucket {
  return drain(refill(record[kind].errors, BUDGETS[kind], now), -errors);
}

/** Whether the gateway may cause that many errors now. */
export function mayCauseErrors(record: NodeRecord, kind: ReadKind, errors: number, now: number): boolean {
  return withErrors(record, kind, 0, now).thousandths >= errors * 1_000;
}

/** Whether the last read neither failed nor was overtaken. */
export function isWell({ pauses }: ReadHealth): boolean {
  return pauses === 0;
}

/** Whether other nodes should be called first. */
export function isPaused({ pausedUntil }: ReadHealth, now: number): boolean {
  return now < pausedUntil;
}

/** The newest tip, which this or another gateway has polled; `undefined` if the last poll failed, and before the first. */
export function shownTip({ tip, received }: NodeRecord): ShownBlock | undefined {
  return tip?.beacon ?? received;
}

/** Whether the last poll succeeded, and the current one, if any, has not been waiting for longer than this. */
export function isResponding(
  { tip, received, pollingSince = Number.POSITIVE_INFINITY }: NodeRecord,
  graceMs: number,
  now: number,
): boolean {
  return received !== undefined || (tip !== undefined && now - pollingSince <= graceMs);
}

/** Whether a block at the height of a head, which another block has replaced as the tip, is surely given up. */
export function isGivenUp(record: NodeRecord, { height, hash }: Pick<ShownBlock, 'height' | 'hash'>): boolean {
  const lastTip = record.blocks.find((block) => block.hash === hash)?.lastTip ?? 0;
  return record.tips - lastTip >= (isSplit(record, height) ? TIPS_UNTIL_GIVEN_UP_IF_SPLIT : TIPS_UNTIL_GIVEN_UP);
}

/** Whether two blocks of this height were shown in turn. */
export function isSplit({ splitAt }: NodeRecord, height: BeaconHeight): boolean {
  return splitAt === height;
}

/** Whether a state of this height can be that of a branch: the URL has lately shown two blocks of one height in turn. */
export function canBeOfBranch({ splitAt }: NodeRecord, height: BeaconHeight): boolean {
  return splitAt !== undefined && height > splitAt - MAX_SPLIT;
}
