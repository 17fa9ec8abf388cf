import { createRequest } from '@urql/core';
import type { FormattedExecutionResult, Sink, SubscribePayload } from 'graphql-ws';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ServiceDocument } from '../../src/app/service.generated.ts';
import { HeadDocument } from '../../src/client/head.generated.ts';
import { createServerClock } from '../../src/client/server-clock.ts';
import { createSession, type Session } from '../../src/client/session.ts';
import { ChainDocument } from '../../src/pages/chain/chain.generated.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const START = Date.UTC(2026, 0, 1);
const timeOf = (height: number) => new Date(START + height * 40_000).toISOString();

function headAt(beaconHeight: number, changes: object = {}) {
  const time = timeOf(beaconHeight);
  const id = `Head:${beaconHeight}:hash`;
  const hash = `hash ${beaconHeight}`;
  return {
    __typename: 'Head',
    id,
    beaconHeight,
    previousHeight: null,
    hash,
    time,
    observedAt: time,
    stale: false,
    ...changes,
  };
}

function serviceAt(beaconHeight: number, { chainName = 'sandbox', stale = false } = {}) {
  return {
    data: {
      __typename: 'Query',
      beaconHeight,
      chainInfo: { __typename: 'ChainInfo', id: `ChainInfo:${chainName}`, chainName },
      service: {
        __typename: 'Service',
        version: '1.0.0',
        sandbox: true,
        time: timeOf(beaconHeight),
        historyStatus: 'OFF',
        head: headAt(beaconHeight, { stale }),
        marketData: null,
        upstreams: [],
      },
    },
  };
}

/** A session whose answers and updates are those of a test. */
function openSession() {
  const answers: object[] = [];
  const restored: (() => void)[] = [];
  const sinks: Sink<FormattedExecutionResult>[] = [];
  const sent: SubscribePayload[] = [];
  const minimums: (string | null)[] = [];
  let requests = 0;
  let otherChains = 0;
  let retries = 0;
  const session: Session = createSession({
    url: 'http://gateway.example/graphql',
    clock: createServerClock(),
    onOtherChain: () => {
      otherChains += 1;
    },
    connection: {
      subscribe(payload, sink) {
        sent.push(payload);
        sinks.push(sink);
        return () => void sinks.splice(sinks.indexOf(sink), 1);
      },
      onRestored(listener) {
        restored.push(listener);
        return () => void restored.splice(restored.indexOf(listener), 1);
      },
      retryIfLost: () => {
        retries += 1;
      },
    },
    fetch: async (_url, options) => {
      requests += 1;
      minimums.push(new Headers(options?.headers).get('x-pdex-min-height'));
      const answer = answers.shift();
      if (answer === undefined) throw new TypeError('Failed to fetch');
      return Response.json(answer);
    },
  });

  /** Queries the service as a component does. */
  function showService() {
    const heights: unknown[] = [];
    const { unsubscribe } = session.client.query(ServiceDocument, {}).subscribe(({ data, error }) => {
      const shown = data?.beaconHeight ?? error?.message;
      if (shown !== heights.at(-1)) heights.push(shown);
    });
    return { heights, unsubscribe };
  }

  return {
    session,
    answers,
    sent,
    sinks,
    showService,
    minimums,
    restore: () => restored.forEach((listener) => void listener()),
    requests: () => requests,
    otherChains: () => otherChains,
    retries: () => retries,
    send: (data: object) => sinks.forEach((sink) => void sink.next({ data: data as Record<string, unknown> })),
    settle: () => vi.advanceTimersByTimeAsync(0),
  };
}

test('an answer from below the newest height is requested again until it is not', async () => {
  const { session, answers, showService, settle, requests } = openSession();
  session.tracker.observeHeight(102);
  answers.push(serviceAt(100), serviceAt(101), serviceAt(102));
  const { heights } = showService();
  await settle();
  expect([heights, requests()]).toEqual([[], 1]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([heights, requests()]).toEqual([[102], 3]);
});

test('answers from below to two refreshes have one repeat, and none when the query is over', async () => {
  const { session, answers, showService, settle, restore, requests } = openSession();
  answers.push(serviceAt(100));
  const { heights, unsubscribe } = showService();
  await settle();
  session.tracker.observeHeight(102);
  answers.push(...Array.from({ length: 100 }, () => serviceAt(100)));
  for (const _refresh of [1, 2]) {
    restore();
    await settle();
  }
  expect([heights, requests(), vi.getTimerCount()]).toEqual([[100], 3, 1]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(vi.getTimerCount()).toBe(1);
  unsubscribe();
  expect(vi.getTimerCount()).toBe(0);
});

test('a refresh that is not behind ends the repeats', async () => {
  const { session, answers, showService, settle, restore, requests } = openSession();
  answers.push(serviceAt(100), serviceAt(100), serviceAt(102));
  const { heights } = showService();
  await settle();
  session.tracker.observeHeight(102);
  for (const _refresh of [1, 2]) {
    restore();
    await settle();
  }
  expect([heights, requests(), vi.getTimerCount()]).toEqual([[100, 102], 3, 0]);
});

test('an answer from below that is stale is shown if its repeats are stale too, and is then not requested again', async () => {
  const { session, answers, showService, restore, requests } = openSession();
  session.tracker.observeHeight(102);
  const stale = () => serviceAt(100, { stale: true });
  answers.push(stale(), stale(), serviceAt(102));
  const { heights } = showService();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([heights, requests()]).toEqual([[102], 3]);

  answers.push(...Array.from({ length: 10 }, stale));
  restore();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([heights, requests(), vi.getTimerCount()]).toEqual([[102, 100], 9, 0]);
  restore();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(requests()).toBe(10);
  expect(session.tracker.height()).toBe(102);
});

test('a query names the newest height that the page shows; the query that finds another chain does not', async () => {
  const { session, answers, minimums, settle, showService } = openSession();
  const head = { data: { __typename: 'Query', beaconHeight: 102, chainInfo: null } };
  answers.push(head, head, serviceAt(102));
  const query = () => session.client.query(ChainDocument, {}, { requestPolicy: 'network-only' }).toPromise();
  await query();
  expect(session.tracker.height()).toBe(102);
  await query();
  showService();
  await settle();
  expect(minimums).toEqual([null, '102', null]);
});

test('nothing is requested again for what is no longer on the screen', async () => {
  const { session, answers, showService, settle, requests } = openSession();
  session.tracker.observeHeight(102);
  answers.push(serviceAt(100), serviceAt(102));
  const { unsubscribe } = showService();
  await settle();
  unsubscribe();
  await vi.advanceTimersByTimeAsync(60_000);
  expect([requests(), vi.getTimerCount()]).toEqual([1, 0]);
});

test('a query that failed is sent again, later and later, until it succeeds', async () => {
  const { answers, showService, requests } = openSession();
  const { heights } = showService();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([heights, requests()]).toEqual([['[Network] Failed to fetch'], 1]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(requests()).toBeGreaterThan(2);
  expect(requests()).toBeLessThan(6);
  answers.push(serviceAt(100));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(heights).toEqual(['[Network] Failed to fetch', 100]);
  const before = requests();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(requests()).toBe(before);
});

test('a request that succeeds shows a lost connection that the gateway can be reached; one that fails does not', async () => {
  const { answers, showService, settle, retries } = openSession();
  showService();
  await settle();
  expect(retries()).toBe(0);
  answers.push(serviceAt(100));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(retries()).toBe(1);
});

test('what is on the screen stays while the gateway cannot be reached', async () => {
  const { session, answers, settle, restore } = openSession();
  answers.push(serviceAt(100));
  const shown: unknown[] = [];
  session.client.query(ServiceDocument, {}).subscribe(({ data, error }) => {
    shown.push([data?.beaconHeight, error?.message]);
  });
  await settle();
  restore();
  await settle();
  expect(shown.at(-1)).toEqual([100, '[Network] Failed to fetch']);
});

/** A query whose only field besides the height fails, with an error of that code. */
function showFailing({ session, answers, settle }: ReturnType<typeof openSession>, code: string) {
  const shown: unknown[] = [];
  const data = { __typename: 'Query', beaconHeight: 100, chainInfo: null };
  answers.push({ data, errors: [{ message: 'Failed.', path: ['chainInfo'], extensions: { code } }] });
  session.client.query(ChainDocument, {}).subscribe(({ data, error, stale }) => {
    shown.push([data?.beaconHeight, error?.message, stale]);
  });
  return { shown, data, settled: settle() };
}

test('a query with a field that has failed is not waiting for an answer after a response to another query', async () => {
  const opened = openSession();
  const { session, answers, showService, settle, requests } = opened;
  const { shown, data, settled } = showFailing(opened, 'BAD_USER_INPUT');
  await settled;
  answers.push(serviceAt(101), { data: { ...data, beaconHeight: 102 } });
  showService();
  await settle();
  expect([requests(), shown.at(-1)]).toEqual([2, [100, '[GraphQL] Failed.', false]]);

  const request = createRequest(ChainDocument, {});
  const before = shown.length;
  session.client.reexecuteOperation(
    session.client.createRequestOperation('query', request, { requestPolicy: 'network-only' }),
  );
  await settle();
  // The old answer is not repeated while the request is on its way.
  expect(shown.slice(before, -1)).not.toContainEqual([100, '[GraphQL] Failed.', false]);
  expect([requests(), shown.at(-1)]).toEqual([3, [102, undefined, false]]);
});

test('responses to other queries do not put off the retry of one that failed', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const opened = openSession();
  const { session, answers, requests } = opened;
  await showFailing(opened, 'UPSTREAM_TIMEOUT').settled;
  for (const height of [101, 102]) {
    await vi.advanceTimersByTimeAsync(1_000);
    answers.push(serviceAt(height));
    await session.client.query(ServiceDocument, {}, { requestPolicy: 'network-only' }).toPromise();
  }
  expect(requests()).toBe(3);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(requests()).toBe(4);
});

test('a query is sent later and later while its field fails, although the cache has the other fields', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const { session, answers, settle, requests } = openSession();
  const pool = { __typename: 'PoolPair', id: 'a', change: null };
  const failedAt = (beaconHeight: number) => ({
    data: { __typename: 'Query', beaconHeight, poolPair: pool },
    errors: [{ message: 'Failed.', path: ['poolPair', 'change'], extensions: { code: 'UPSTREAM_TIMEOUT' } }],
  });
  answers.push(failedAt(100));
  const query = '{ __typename beaconHeight poolPair(id: "a") { __typename id change { __typename percent } } }';
  const shown: unknown[] = [];
  session.client.query(query, {}).subscribe(({ data }) => void shown.push(data?.beaconHeight));
  await settle();
  const requested: number[] = [];
  for (const height of [101, 102, 103]) {
    answers.push(serviceAt(height));
    await session.client.query(ServiceDocument, {}, { requestPolicy: 'network-only' }).toPromise();
    answers.push(failedAt(height));
    await vi.advanceTimersByTimeAsync(3_000);
    requested.push(requests());
    answers.length = 0;
  }
  // Three requests of the service, and of the query the first one and those after 3 and 9 seconds.
  expect([shown.at(-1), requested]).toEqual([103, [3, 4, 6]]);
});

test('a client that sends too much waits as long as the gateway says', async () => {
  const { answers, showService, settle, requests } = openSession();
  answers.push({
    data: null,
    errors: [{ message: 'Wait.', extensions: { code: 'RATE_LIMITED', retryAfterMs: 30_000 } }],
  });
  showService();
  await settle();
  await vi.advanceTimersByTimeAsync(29_999);
  expect(requests()).toBe(1);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(requests()).toBe(2);
});

test('a query whose minimum height the gateway has not reached is sent again, unless it never will', async () => {
  const { answers, showService, settle, requests } = openSession();
  const refusal = (extensions: object) => ({
    data: null,
    errors: [{ message: 'Not yet.', extensions: { code: 'HEIGHT_NOT_AVAILABLE', ...extensions } }],
  });
  answers.push(refusal({ retryAfterMs: 1_000 }), refusal({}));
  showService();
  await settle();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(requests()).toBe(2);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(requests()).toBe(2);
});

test('what is on the screen is requested again when the connection is restored', async () => {
  const { answers, showService, settle, restore, requests } = openSession();
  answers.push(serviceAt(100), serviceAt(105));
  const { heights, unsubscribe } = showService();
  await settle();
  restore();
  await settle();
  expect(heights).toEqual([100, 105]);
  unsubscribe();
  restore();
  await settle();
  expect(requests()).toBe(2);
});

test('an update from below the newest height is dropped', async () => {
  const { session, send, settle } = openSession();
  const heights: unknown[] = [];
  session.client.subscription(HeadDocument, {}).subscribe(({ data }) => heights.push(data?.head.beaconHeight));
  await settle();
  for (const height of [100, 102, 101, 103]) send({ __typename: 'Subscription', head: headAt(height) });
  expect(heights).toEqual([100, 102, 103]);
  expect(session.tracker.newest.get()?.beaconHeight).toBe(103);
});

test('equal subscriptions of several components are one for the gateway', async () => {
  const { session, sent, sinks, settle } = openSession();
  const subscriptions = [1, 2, 3].map(() => session.client.subscription(HeadDocument, {}).subscribe(() => {}));
  await settle();
  expect([sent.length, sinks.length]).toEqual([1, 1]);
  for (const { unsubscribe } of subscriptions) unsubscribe();
  expect(sinks.length).toBe(0);
});

test.each([
  ['a head whose block is newer, but lower', (height: number) => ({ head: headAt(height, { time: timeOf(500) }) })],
  ['a head far below', () => ({ head: headAt(20) })],
])('%s is one of another chain, and is not shown', async (_name, update) => {
  const { session, send, settle, otherChains } = openSession();
  const heights: unknown[] = [];
  session.client.subscription(HeadDocument, {}).subscribe(({ data }) => heights.push(data?.head.beaconHeight));
  await settle();
  send({ __typename: 'Subscription', head: headAt(100) });
  send({ __typename: 'Subscription', ...update(98) });
  expect([heights, otherChains()]).toEqual([[100], 1]);
});

test('an answer about a chain of another name is one of another chain', async () => {
  const { answers, showService, settle, restore, otherChains } = openSession();
  answers.push(serviceAt(100), serviceAt(101, { chainName: 'mainnet' }));
  const { heights } = showService();
  await settle();
  restore();
  await settle();
  expect([heights, otherChains()]).toEqual([[100], 1]);
});

test('a session that is over leaves no timers and no listeners', async () => {
  const { session, showService, restore, requests } = openSession();
  showService();
  await vi.advanceTimersByTimeAsync(100);
  session.dispose();
  restore();
  await vi.advanceTimersByTimeAsync(600_000);
  expect([requests(), vi.getTimerCount()]).toEqual([1, 0]);
});
