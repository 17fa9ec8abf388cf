import { describe, expect, test } from 'vitest';
import {
  canBeOfBranch,
  emptyRecord,
  isGivenUp,
  isPaused,
  isResponding,
  isSplit,
  isWell,
  mayCauseErrors,
  type NodeEvent,
  type NodeRecord,
  nextRecord,
  type ReadKind,
  shownTip,
} from '../../../src/live/chain/node-record.ts';
import { type StateResponse, standingOf } from '../../../src/live/chain/retained-heights.ts';
import { chainInfoOf } from './heads.ts';

const MAX_PAUSE_MS = 32_000;
const MINUTE_MS = 60_000;
const GRACE_MS = 100;

/** An event, and how much later than the one before it is. */
type Step = NodeEvent & { readonly afterMs?: number };

const began: Step = { type: 'poll began' };
const polled = (height: number, hash?: string): Step => ({ type: 'tip polled', tip: chainInfoOf(height, hash) });
const received = (height: number, hash?: string): Step => ({
  type: 'tip received',
  block: chainInfoOf(height, hash).beacon,
});
const pollFailed: Step = { type: 'poll failed', error: 'no response' };
const read = (kind: ReadKind): Step => ({ type: 'read succeeded', kind });
const failed = (kind: ReadKind, error: unknown = 'no state', jitter = 1): Step => ({
  type: 'read failed',
  kind,
  error,
  jitter,
});
const overtaken = (kind: ReadKind): Step => ({ type: 'read failed', kind, error: undefined, jitter: 1 });
const error = (kind: ReadKind): Step => ({ type: 'error caused', kind });
const state = (height: number, response: StateResponse): Step => ({ type: 'state response', height, response });
const later = (afterMs: number, step: Step): Step => ({ ...step, afterMs });
const times = (count: number, step: Step): Step[] => Array.from({ length: count }, () => step);

/** The record after these events, and the time of the last one. */
function after(steps: readonly Step[]): { record: NodeRecord; now: number } {
  let now = 0;
  let record = emptyRecord(MAX_PAUSE_MS, now);
  for (const { afterMs = 0, ...event } of steps) {
    now += afterMs;
    record = nextRecord(record, event as NodeEvent, now);
  }
  return { record, now };
}

/** A row: what happens, the events, what is asked of the record (some time after the last event), and the answer. */
type Row = readonly [
  what: string,
  steps: readonly Step[],
  ask: (record: NodeRecord, now: number) => unknown,
  answer: unknown,
];

function check(_: string, steps: readonly Step[], ask: Row[2], answer: unknown): void {
  const { record, now } = after(steps);
  expect(ask(record, now)).toEqual(answer);
}

const tip = (record: NodeRecord) => shownTip(record)?.height;
const responds = (ms: number) => (record: NodeRecord, now: number) => isResponding(record, GRACE_MS, now + ms);
const facts = ({ failure, pollingSince, tipSince }: NodeRecord) => ({ failure, pollingSince, tipSince });

describe('the tip', () => {
  test.each<Row>([
    ['before the first poll', [], tip, undefined],
    ['a poll began', [began], facts, { failure: undefined, pollingSince: 0, tipSince: 0 }],
    ['a poll began at a node without a tip', [began], responds(0), false],
    ['it was polled', [began, polled(7)], tip, 7],
    [
      'it was polled',
      [began, later(5, polled(7))],
      facts,
      { failure: undefined, pollingSince: undefined, tipSince: 5 },
    ],
    ['it was polled', [began, polled(7)], responds(1_000_000), true],
    ['the same block was polled again', [polled(7), later(5, polled(7))], ({ tipSince }) => tipSince, 0],
    ['the next poll waits for a moment', [polled(7), began], responds(GRACE_MS), true],
    ['the next poll waits for long', [polled(7), began], responds(GRACE_MS + 1), false],
    ['the next poll failed', [polled(7), began, pollFailed], tip, undefined],
    ['the next poll failed', [polled(7), began, pollFailed], responds(0), false],
    [
      'the next poll failed',
      [polled(7), began, pollFailed],
      facts,
      { failure: 'no response', pollingSince: undefined, tipSince: 0 },
    ],
    ['it was polled after a failure', [pollFailed, polled(7)], ({ failure }) => failure, undefined],
    ['another gateway polled it', [received(9)], tip, 9],
    ['another gateway polled it', [pollFailed, received(9)], responds(1_000_000), true],
    ['another gateway polled it: it is not the response of a poll', [polled(7), received(9)], (r) => r.tip, undefined],
    ['it was polled since', [received(9), polled(10)], ({ received }) => received, undefined],
    ['a poll failed since', [received(9), pollFailed], tip, undefined],
  ])('%s', check);
});

describe('the blocks that were shown', () => {
  const hashes = ({ blocks }: NodeRecord) => blocks.map(({ hash }) => hash);
  const many = Array.from({ length: 70 }, (_, n) => polled(n + 1));
  test.each<Row>([
    ['none', [], hashes, []],
    ['one, however often', [polled(1, 'a'), received(1, 'a')], hashes, ['a']],
    ['two of one height', [polled(1, 'a'), polled(1, 'b')], hashes, ['a', 'b']],
    ['not what another gateway polled at or below their heights', [polled(2, 'a'), received(2, 'b')], hashes, ['a']],
    ['also not while no poll succeeds', [polled(2, 'a'), pollFailed, received(2, 'b')], hashes, ['a']],
    ['the last first again', [polled(1, 'a'), polled(2, 'b'), polled(1, 'a')], hashes, ['b', 'a']],
    ['a failed poll changes none', [polled(1, 'a'), pollFailed], hashes, ['a']],
    ['the newest 64', many, (r) => [hashes(r).length, hashes(r)[0]], [64, 'block 7']],
  ])('%s', check);
});

describe('two blocks that are shown in turn', () => {
  const inTurn = [polled(10, 'a'), polled(10, 'b'), polled(10, 'a')];
  const splits =
    (...heights: number[]) =>
    (record: NodeRecord) =>
      heights.map((height) => isSplit(record, height));
  const branches =
    (...heights: number[]) =>
    (record: NodeRecord) =>
      heights.map((h) => canBeOfBranch(record, h));
  test.each<Row>([
    ['one block replaced another', [polled(10, 'a'), polled(10, 'b'), polled(10, 'b')], splits(10), [false]],
    [
      'one block replaced another',
      [polled(10, 'a'), polled(10, 'b'), polled(11, 'c')],
      branches(1, 10, 11),
      [false, false, false],
    ],
    ['a node lags', [polled(10, 'a'), polled(11, 'b'), polled(10, 'a')], splits(10, 11), [false, false]],
    ['a block came again', inTurn, splits(9, 10, 11), [false, true, false]],
    [
      'another gateway has polled a block before',
      [polled(10, 'a'), polled(10, 'b'), pollFailed, received(10, 'a'), polled(10, 'b')],
      splits(10),
      [false],
    ],
    [
      'at a higher height too',
      [...inTurn, polled(12, 'd'), polled(12, 'e'), polled(12, 'd')],
      splits(10, 12),
      [false, true],
    ],
    [
      'at a lower height too',
      [...inTurn, polled(9, 'd'), polled(9, 'e'), polled(9, 'd')],
      splits(9, 10),
      [false, true],
    ],
    ['64 blocks below can be of a branch', inTurn, branches(1, 10, 99), [true, true, true]],
    ['lower ones cannot', [polled(100, 'a'), polled(100, 'b'), polled(100, 'a')], branches(36, 37), [false, true]],
    ['as long as the tip is not 64 blocks higher', [...inTurn, polled(73)], branches(10), [true]],
    ['it is forgotten when the tip is', [...inTurn, polled(74)], branches(10, 73), [false, false]],
  ])('%s', check);
});

describe('when the block of a head is given up for another one of its height', () => {
  const head = { height: 10, hash: 'a' };
  const givenUp = (record: NodeRecord) => isGivenUp(record, head);
  const inTurn = [polled(10, 'a'), polled(10, 'b'), polled(10, 'a')];
  test.each<Row>([
    ['not after three other tips', [polled(10, 'a'), ...times(3, polled(10, 'b'))], givenUp, false],
    ['after four', [polled(10, 'a'), ...times(4, polled(10, 'b'))], givenUp, true],
    ['not if it comes again', [polled(10, 'a'), ...times(3, polled(10, 'b')), polled(10, 'a')], givenUp, false],
    ['not after 15 if both were shown in turn', [...inTurn, ...times(15, polled(10, 'b'))], givenUp, false],
    ['after 16 if both were shown in turn', [...inTurn, ...times(16, polled(10, 'b'))], givenUp, true],
  ])('%s', check);
});

describe.each<ReadKind>(['newBlocks', 'pastStates'])('the reads of %s', (kind) => {
  const other = kind === 'newBlocks' ? 'pastStates' : 'newBlocks';
  const health = (ms: number) => (record: NodeRecord, now: number) => [
    isWell(record[kind]),
    isPaused(record[kind], now + ms),
    record[kind].lastError,
  ];
  const left = (record: NodeRecord, now: number) => {
    let errors = -20;
    while (mayCauseErrors(record, kind, errors + 1, now)) errors += 1;
    return errors;
  };
  const all = kind === 'newBlocks' ? 12 : 20;
  const perMinute = kind === 'newBlocks' ? 1 : 2;
  const failTimes = (count: number) => times(count, later(MAX_PAUSE_MS, failed(kind)));
  test.each<Row>([
    ['none yet', [], health(0), [true, false, undefined]],
    ['one failed', [failed(kind)], health(999), [false, true, 'no state']],
    ['its pause is over', [failed(kind)], health(1_000), [false, false, 'no state']],
    ['with less jitter the pause is shorter', [failed(kind, 'no state', 0)], health(500), [false, false, 'no state']],
    [
      'during a pause others fail',
      [failed(kind), later(900, failed(kind, 'more'))],
      health(100),
      [false, false, 'no state'],
    ],
    ['each further pause is twice as long', failTimes(2), health(1_999), [false, true, 'no state']],
    ['each further pause is twice as long', failTimes(2), health(2_000), [false, false, 'no state']],
    ['but not longer than the longest', failTimes(10), health(MAX_PAUSE_MS - 1), [false, true, 'no state']],
    ['but not longer than the longest', failTimes(10), health(MAX_PAUSE_MS), [false, false, 'no state']],
    [
      'the error of the last pause counts',
      [failed(kind), later(2_000, failed(kind, 'more'))],
      health(0),
      [false, true, 'more'],
    ],
    ['another node was faster', [overtaken(kind)], health(999), [false, true, undefined]],
    ['another node was faster, then it failed', [overtaken(kind), failed(kind)], health(0), [false, true, 'no state']],
    ['one succeeded', [...failTimes(5), read(kind)], health(0), [true, false, undefined]],
    [
      'after a success the first pause is short',
      [...failTimes(5), read(kind), failed(kind)],
      health(1_000),
      [false, false, 'no state'],
    ],
    ['those of the other kind do not count', [failed(other), read(other)], health(0), [true, false, undefined]],
    ['the budget of errors is full', [], left, all],
    ['an error was caused', [error(kind)], left, all - 1],
    ['it can fall below zero', times(all + 2, error(kind)), left, -2],
    ['it is refilled with time', [...times(5, error(kind)), later(MINUTE_MS, error(kind))], left, all - 6 + perMinute],
    ['it is never more than full', [error(kind), later(60 * MINUTE_MS, error(kind))], left, all - 1],
    ['it is never more than full after reads that succeeded', [read(kind), read(kind), error(kind)], left, all - 1],
    [
      'a new block returns two errors, a past state none',
      [...times(5, error(kind)), read(kind)],
      left,
      kind === 'newBlocks' ? 9 : 15,
    ],
    ['a read that failed costs none by itself', [failed(kind)], left, all],
    ['the other budget is another one', [error(other)], left, all],
  ])('%s', check);
});

describe('what the responses about earlier states show', () => {
  const standings =
    (heights: readonly number[], ms = 0) =>
    (record: NodeRecord, now: number) =>
      heights.map((height) => standingOf(record.heights, height, now + ms));
  const both = [
    state(900, 'found'),
    state(800, 'found'),
    state(400, 'pruned'),
    state(500, 'pruned'),
    state(300, 'pruned'),
  ];
  test.each<Row>([
    ['nothing yet', [], standings([1]), ['unknown']],
    ['all below a pruned one are pruned', both, standings([1, 500, 501]), ['pruned', 'pruned', 'unknown']],
    [
      'all above one that was found are retained',
      both,
      standings([799, 800, 5_000]),
      ['unknown', 'retained', 'retained'],
    ],
    ['a height is pruned for five minutes', both, standings([500], 5 * MINUTE_MS - 1), ['pruned']],
    ['a height is pruned for five minutes', both, standings([500, 800], 5 * MINUTE_MS), ['unknown', 'retained']],
    [
      'a lower one is then not all that is known',
      [...both, later(5 * MINUTE_MS, state(450, 'pruned'))],
      standings([450, 451]),
      ['pruned', 'unknown'],
    ],
    [
      'one that was pruned is found',
      [state(500, 'pruned'), state(450, 'found')],
      standings([449, 450]),
      ['unknown', 'retained'],
    ],
    [
      'one that is not pruned any more',
      [state(500, 'pruned'), state(450, 'found')],
      (r) => r.heights.highestPruned,
      undefined,
    ],
    [
      'one that was found is pruned',
      [state(500, 'found'), state(500, 'pruned')],
      standings([500, 501]),
      ['pruned', 'unknown'],
    ],
    [
      'a gap above one that was found',
      [state(400, 'found'), state(500, 'pruned')],
      standings([400, 499, 500, 501]),
      ['unknown', 'unknown', 'pruned', 'unknown'],
    ],
    [
      'a gap, and a lower one again',
      [state(400, 'found'), state(500, 'pruned'), state(400, 'found')],
      standings([400, 500, 501]),
      ['retained', 'pruned', 'retained'],
    ],
    [
      'a gap that is found',
      [state(400, 'found'), state(500, 'pruned'), state(400, 'found'), state(500, 'found')],
      standings([500]),
      ['retained'],
    ],
    [
      'a gap is forgotten too',
      [state(400, 'found'), state(500, 'pruned')],
      standings([500], 5 * MINUTE_MS),
      ['unknown'],
    ],
    [
      'two pruned in a row are no gap',
      [state(400, 'found'), state(600, 'pruned'), state(550, 'pruned')],
      standings([400, 550, 551]),
      ['pruned', 'pruned', 'unknown'],
    ],
    [
      'one that the node has not reached',
      [state(100, 'found'), state(500, 'behind')],
      standings([499, 500, 501]),
      ['retained', 'behind', 'behind'],
    ],
    [
      'it may have reached it after two seconds',
      [state(100, 'found'), state(500, 'behind')],
      standings([500], 2_000),
      ['retained'],
    ],
    [
      'it has reached it',
      [state(100, 'found'), state(500, 'behind'), state(500, 'found')],
      standings([501]),
      ['retained'],
    ],
    [
      'it has reached a lower one only',
      [state(500, 'behind'), state(499, 'found')],
      standings([499, 500]),
      ['retained', 'behind'],
    ],
  ])('%s', check);
});
