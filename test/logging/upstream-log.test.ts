import { expect, test } from 'vitest';
import { UpstreamUnreachableError } from '../../src/errors.ts';
import { createUpstreamLog } from '../../src/logging/upstream-log.ts';
import { createKeptLog, INFO, WARN } from '../support/log.ts';

test('the log tells when an upstream breaks and when it recovers, once each, with what no client sees', () => {
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
