import { expect, test } from 'vitest';
import { UpstreamBadStatusError, UpstreamUnreachableError } from '../../src/errors.ts';
import type { Watcher } from '../../src/live/broadcast/follower.ts';
import type { Log } from '../../src/logging/log.ts';
import { createNodeLog, createPushLog, createUpstreamLog } from '../../src/logging/upstream-log.ts';
import type { NodeClient } from '../../src/upstream/node/client.ts';
import { createKeptLog, INFO, WARN } from '../support/log.ts';

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
