import { expect, test } from 'vitest';
import { MISMATCHED } from '../../soak/judge.ts';
import { UpstreamBadStatusError, UpstreamUnreachableError } from '../../src/errors.ts';
import type { Watcher } from '../../src/live/broadcast/follower.ts';
import type { Log } from '../../src/logging/log.ts';
import {
  createHistoryLog,
  createNodeLog,
  createPushLog,
  createTokenLog,
  createTradesLog,
  createUnreadableLog,
  createUpstreamLog,
} from '../../src/logging/upstream-log.ts';
import type { NodeClient } from '../../src/upstream/node/client.ts';
import { START } from '../support/gateway.ts';
import { createKeptLog, ERROR, INFO, WARN } from '../support/log.ts';

test('the log says when an upstream breaks and when it recovers, once each, with what no client sees', () => {
  const { lines, log } = createKeptLog();
  const watch = createUpstreamLog(log, 'MARKET_DATA');
  const [pairs, tickers] = [watch(), watch()];
  const error = new UpstreamUnreachableError('MARKET_DATA', { url: 'http://10.0.0.1/' }, new Error('refused'));

  pairs.failed(error);
  tickers.failed(error);
  pairs.failed(error);
  pairs.recovered();
  tickers.recovered();
  pairs.recovered();
  pairs.failed(error);
  const broken = {
    level: WARN,
    msg: 'an upstream cannot be read',
    upstream: 'MARKET_DATA',
    code: 'UPSTREAM_UNREACHABLE',
    retryable: true,
    error: 'The market-data host cannot be reached.',
    url: 'http://10.0.0.1/',
    cause: 'refused',
  };
  const recovered = { level: INFO, msg: 'an upstream can be read again', upstream: 'MARKET_DATA' };
  expect(lines).toEqual([broken, recovered, broken]);
});

const answered = (status: number) => new UpstreamBadStatusError('NODE', status, '', {});
const NODE = { name: 'node:9334' } as NodeClient;

test.each<[string, (log: Log) => Pick<Watcher, 'failed'> & { again(): void }]>([
  ['an upstream', (log) => again(createUpstreamLog(log, 'NODE')())],
  ['one of several nodes', (log) => again(createNodeLog(log, 2)(NODE))],
  [
    'the websocket of a node',
    (log) => {
      const { failed, pushing } = createPushLog(log, 'node:9334');
      return { failed, again: pushing };
    },
  ],
])('the log has each reason of an outage of %s once, at most ten, and again in the next outage', (_, watch) => {
  const { lines, log } = createKeptLog();
  const watcher = watch(log);
  const refused = new UpstreamUnreachableError('NODE', {}, new Error('refused'));
  for (const error of [refused, answered(404), refused, answered(404), answered(401)]) watcher.failed(error);
  const [unreachable, notFound] = ['The node cannot be reached.', 'The node responded with HTTP status 404.'];
  expect(lines.map(({ error }) => error)).toEqual([unreachable, notFound, 'The node responded with HTTP status 401.']);

  for (let status = 500; status < 600; status += 1) watcher.failed(answered(status));
  expect(lines.length).toBe(10);
  watcher.again();
  for (const error of [answered(404), refused, answered(404)]) watcher.failed(error);
  expect(lines.slice(11).map(({ level, error }) => [level, error])).toEqual([
    [WARN, notFound],
    [WARN, unreachable],
  ]);
});

function again({ failed, recovered }: Watcher) {
  return { failed, again: recovered };
}

test('a single node is logged as the upstream only, and with its earlier states', () => {
  const { lines, log } = createKeptLog();
  const { failed, recovered, pastStates } = createNodeLog(log, 1)(NODE);
  failed(answered(500));
  recovered();
  pastStates.failed(answered(500));
  expect(lines).toMatchObject([{ level: WARN, msg: 'a node cannot read earlier states', node: 'node:9334' }]);
});

test('what cannot be read of each list is logged once a minute, also after the clock is set back', () => {
  const { lines, log } = createKeptLog();
  const clock = { now: START };
  const report = createUnreadableLog(log, () => clock.now);
  const reportAll = () => {
    for (const list of ['pairs', 'tickers'] as const) report(list, 'expected a number at $', { list });
  };
  for (const ms of [0, 59_999, 1, -86_400_000, 0]) {
    clock.now += ms;
    reportAll();
  }
  expect(lines.map(({ list, example }) => [list, example])).toEqual(
    [1, 2, 3].flatMap(() => ['pairs', 'tickers'].map((list) => [list, JSON.stringify({ list })])),
  );
});

const broken = new Error('broken');

test.each<[event: string, report: (log: Log) => void, line: object]>([
  [
    'entries of the token service are skipped',
    (log) => createTokenLog(log).skipped(3),
    { level: WARN, upstream: 'TOKENS', entries: 3 },
  ],
  [
    'no entry is skipped any more',
    (log) => createTokenLog(log).skipped(0),
    { level: INFO, msg: 'the token service has no invalid entries any more' },
  ],
  ['the history is refused', (log) => createHistoryLog(log).refused(broken), { level: ERROR, error: 'broken' }],
  ['heights of another branch', (log) => createHistoryLog(log).leftOut([5, 6]), { level: WARN, heights: [5, 6] }],
  ['states without a time', (log) => createHistoryLog(log).untimed(), { level: WARN }],
  ['undecided heights', (log) => createHistoryLog(log).undecided(7), { level: WARN, beaconHeight: 7 }],
  ['unknown trades', (log) => createTradesLog(log).failed(answered(500)), { level: WARN, code: 'UPSTREAM_BAD_STATUS' }],
])('an operator sees how severe it is: %s', (_, report, line) => {
  const { lines, log } = createKeptLog();
  report(log);
  expect(lines).toMatchObject([line]);
});

test('the soak test finds the line about a block whose trades do not explain its state', () => {
  const { lines, log } = createKeptLog();
  createTradesLog(log).mismatched(7, ['pool']);
  expect(lines).toMatchObject([{ level: WARN, msg: expect.stringMatching(`^${MISMATCHED}`) }]);
});
