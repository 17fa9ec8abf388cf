import { Writable } from 'node:stream';
import pino from 'pino';
import { expect, test } from 'vitest';
import { UpstreamUnreachableError } from '../src/errors.ts';
import { createUpstreamLog } from '../src/upstream-log.ts';

/** A log that keeps its lines: each as its level, its text and what it says of the upstream. */
function keepingLog() {
  const lines: unknown[] = [];
  const stream = new Writable({
    write(line, _encoding, done) {
      const { level, msg, upstream, code, url } = JSON.parse(String(line));
      lines.push({ level, msg, upstream, code, url });
      done();
    },
  });
  return { lines, log: pino({ level: 'info', base: null }, stream) };
}

test('the log tells when an upstream breaks and when it heals, once each, with what no client sees', () => {
  const { lines, log } = keepingLog();
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
    level: 40,
    msg: 'an upstream cannot be read',
    upstream: 'MARKET_DATA',
    code: 'UPSTREAM_UNREACHABLE',
    url: 'http://10.0.0.1/',
  };
  const healed = { level: 30, msg: 'an upstream can be read again', upstream: 'MARKET_DATA' };
  expect(lines).toEqual([broken, healed, broken]);
});
