import type { FormattedExecutionResult, Sink } from 'graphql-ws';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { resubscribing } from '../../src/client/resubscribing.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A subscription whose updates are those of a test. */
function open() {
  const sinks: Sink<FormattedExecutionResult>[] = [];
  const received: unknown[] = [];
  const unsubscribe = resubscribing(
    (_, sink) => {
      sinks.push(sink);
      // As graphql-ws does.
      return () => sink.complete();
    },
    { query: 'subscription { head { beaconHeight } }' },
    {
      next: (update) => void received.push(update),
      error: (error) => void received.push(error),
      complete: () => void received.push('complete'),
    },
    () => 1,
  );
  const newest = () => sinks.at(-1) as Sink<FormattedExecutionResult>;
  return { sinks, newest, received, unsubscribe };
}

const refusal = (code: string, extensions = {}) => ({ message: code, extensions: { code, ...extensions } });
const UPDATE = { data: { head: { beaconHeight: 1 } } };

test('a subscription that the gateway refuses for a while is started again, later after each refusal', () => {
  const { sinks, newest, received } = open();
  const limited = refusal('RATE_LIMITED', { retryAfterMs: 5_000 });
  // biome-ignore lint/suspicious/noExplicitAny: graphql-ws has the errors as they were sent
  newest().error([limited] as any);
  expect(received).toEqual([{ errors: [limited] }]);
  vi.advanceTimersByTime(5_999);
  expect(sinks).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(sinks).toHaveLength(2);

  // biome-ignore lint/suspicious/noExplicitAny: as above
  newest().error([refusal('INTERNAL_SERVER_ERROR')] as any);
  vi.advanceTimersByTime(1_999);
  expect(sinks).toHaveLength(2);
  vi.advanceTimersByTime(1);
  newest().next(UPDATE);
  expect(received.at(-1)).toEqual(UPDATE);

  // The gateway has ended it after an update: the next failure is the first one again.
  newest().complete();
  vi.advanceTimersByTime(1_000);
  expect(sinks).toHaveLength(4);
});

test('one that ends with an error that passes is started again, and one that can never succeed is not', () => {
  const { sinks, newest, received } = open();
  newest().next({ errors: [refusal('UPSTREAM_TIMEOUT')] as never, data: null });
  newest().complete();
  vi.advanceTimersByTime(1_000);
  expect(sinks).toHaveLength(2);

  // biome-ignore lint/suspicious/noExplicitAny: graphql-ws has the errors as they were sent
  newest().error([refusal('BAD_USER_INPUT')] as any);
  expect(received.at(-1)).toBe('complete');
  vi.advanceTimersByTime(60_000);
  expect(sinks).toHaveLength(2);
});

test('one that the page ends stays ended, also while it waits', () => {
  const { sinks, newest, received, unsubscribe } = open();
  newest().next(UPDATE);
  unsubscribe();
  vi.advanceTimersByTime(60_000);
  expect([sinks.length, received]).toEqual([1, [UPDATE]]);

  const waiting = open();
  waiting.newest().complete();
  waiting.unsubscribe();
  vi.advanceTimersByTime(60_000);
  expect(waiting.sinks).toHaveLength(1);
});

test('a websocket that graphql-ws has given up is an error of each subscription', () => {
  const { sinks, newest, received } = open();
  const closed = { code: 4400, reason: 'bad' };
  newest().error(closed);
  vi.advanceTimersByTime(60_000);
  expect([sinks.length, received]).toEqual([1, [closed]]);
});
