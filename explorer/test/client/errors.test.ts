import { CombinedError } from '@urql/core';
import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../../src/domain/error-codes.ts';
import { isRetryable, readErrors } from '../../src/client/errors.ts';
import { errorsAt } from '../../src/parts/answered.tsx';
import { explainError } from '../../src/parts/error-text.ts';

const TRADE_REFUSALS = [
  ...['NO_LIQUIDITY', 'REAL_RESERVE_TOO_SMALL', 'RESERVE_OUT_OF_RANGE', 'ONE_SIDE_ZERO'],
  ...['POOL_TWICE', 'ROUTE_DOES_NOT_FIT', 'NO_SUCH_POOL'],
];

const ofCode = (code: string, more: object = {}) => ({ code, message: 'A message.', path: [], ...more });

test('the errors of a result have their codes, paths, upstreams and waits', () => {
  const error = new CombinedError({
    graphQLErrors: [
      {
        message: 'The node cannot be reached.',
        path: ['poolPairs', 'nodes', 0],
        extensions: { code: 'UPSTREAM_UNREACHABLE', upstream: 'NODE' },
      },
      { message: 'Wait.', extensions: { code: 'RATE_LIMITED', retryAfterMs: 1_500 } },
      { message: 'Something else.' },
    ],
  });
  expect(readErrors(error)).toEqual([
    {
      code: 'UPSTREAM_UNREACHABLE',
      message: 'The node cannot be reached.',
      path: ['poolPairs', 'nodes', 0],
      upstream: 'NODE',
    },
    { code: 'RATE_LIMITED', message: 'Wait.', path: [], retryAfterMs: 1_500 },
    { code: 'INTERNAL_SERVER_ERROR', message: 'Something else.', path: [] },
  ]);
  expect(readErrors(undefined)).toEqual([]);
});

test('a request without an answer means that the gateway cannot be reached', () => {
  const errors = readErrors(new CombinedError({ networkError: new TypeError('Failed to fetch') }));
  expect(errors.map(({ code }) => code)).toEqual(['DISCONNECTED']);
});

test('a request that something in front of the gateway refuses says so', () => {
  const response = new Response('Forbidden', { status: 403 });
  const [error] = readErrors(new CombinedError({ networkError: new Error('Forbidden'), response }));
  expect(error?.code).toBe('REFUSED');
  expect(explainError(ofCode('REFUSED')).title).toBe('This page is refused');
  expect(explainError(ofCode('ORIGIN_NOT_ALLOWED'))).toEqual({
    ...{ title: 'The gateway refuses this page', text: 'A message.', retries: false },
  });
});

test('a trade that the exchange would refuse says why in plain words, and is not tried again', () => {
  const extensions = { code: 'TRADE_REFUSED', reason: 'ONE_SIDE_ZERO' };
  const [error] = readErrors(new CombinedError({ graphQLErrors: [{ message: 'A message.', extensions }] }));
  expect(error).toEqual(ofCode('TRADE_REFUSED', { reason: 'ONE_SIDE_ZERO' }));
  const texts = TRADE_REFUSALS.map((reason) => explainError(ofCode('TRADE_REFUSED', { reason })));
  expect(texts.filter(({ text, retries }) => text === 'A message.' || retries)).toEqual([]);
  expect(new Set(texts.map(({ text }) => text)).size).toBe(TRADE_REFUSALS.length);
  expect(explainError(ofCode('TRADE_REFUSED', { reason: 'LATER' })).text).toBe('A message.');
});

test('what passes by itself is tried again', () => {
  const retryable = ['DISCONNECTED', ...Object.keys(ERROR_CODES)].filter((code) => isRetryable(ofCode(code)));
  expect(retryable).toEqual([
    'DISCONNECTED',
    'UPSTREAM_UNREACHABLE',
    'UPSTREAM_TIMEOUT',
    'UPSTREAM_BAD_STATUS',
    'UPSTREAM_FILTERED',
    'UPSTREAM_RPC_ERROR',
    'UPSTREAM_BAD_SHAPE',
    'UPSTREAM_BUSY',
    'HISTORY_UNAVAILABLE',
    'RATE_LIMITED',
    'INTERNAL_SERVER_ERROR',
  ]);
});

test('a height is tried again only if the gateway is expected to reach it', () => {
  const behind = ofCode('HEIGHT_NOT_AVAILABLE', { retryAfterMs: 1_000 });
  expect(isRetryable(behind)).toBe(true);
  expect(explainError(behind)).toMatchObject({ title: 'The gateway is behind', retries: true });
  expect(explainError(ofCode('HEIGHT_NOT_AVAILABLE'))).toMatchObject({ text: 'A message.', retries: false });
});

test('an error belongs to its field, to what is in it, and to what it is in', () => {
  const [pair, book, bids, ticker] = [['pair'], ['pair', 'orderBook'], ['pair', 'orderBook', 'bids', 0], ['ticker']];
  const errors = [[], pair, book, bids, ticker].map((path) => ofCode('UPSTREAM_TIMEOUT', { path }));
  expect(errorsAt(errors, ['pair', 'orderBook']).map(({ path }) => path)).toEqual([[], pair, book, bids]);
});

describe('in plain words', () => {
  test.each(Object.keys(ERROR_CODES))('%s has a title, a text, and no code in them', (code) => {
    const { title, text } = explainError(ofCode(code, { upstream: 'NODE' }));
    expect(title).toMatch(/^[A-Z][^_]+[^.]$/);
    expect(text).toMatch(/^[A-Z][^_]+\.$/);
  });

  test('the upstream is named', () => {
    const title = (upstream?: string) => explainError(ofCode('UPSTREAM_UNREACHABLE', { upstream })).title;
    expect(title('NODE')).toBe('The node cannot be reached');
    expect(title('MARKET_DATA')).toBe('The market-data host cannot be reached');
    expect(title()).toBe('The upstream cannot be reached');
  });

  test('an upstream that fails does the same in a title as in the banner', () => {
    const title = (code: string) => explainError(ofCode(code, { upstream: 'NODE' })).title;
    expect(title('UPSTREAM_BAD_STATUS')).toBe('The node responds with an error status');
    const upstreams = Object.keys(ERROR_CODES).filter((code) => code.startsWith('UPSTREAM_'));
    expect(upstreams.filter((code) => title(code) === 'The gateway could not respond')).toEqual([]);
  });

  test('a full queue is that of the gateway, which does not try again by itself', () => {
    expect(explainError(ofCode('UPSTREAM_BUSY', { upstream: 'NODE' }))).toEqual({
      title: 'The gateway does not call the node now',
      text: 'Too many requests wait for it in the gateway, or it has responded with too many errors. The page tries again.',
      retries: true,
    });
  });

  test('a limited client is told no time: the page adds a random pause', () => {
    expect(explainError(ofCode('RATE_LIMITED', { retryAfterMs: 2_400 })).text).toContain('tries again by itself');
    expect(explainError(ofCode('RATE_LIMITED')).text).toContain('Close other tabs');
  });
});
