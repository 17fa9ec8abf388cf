import { describe, expect, test } from 'vitest';
import { canSortByChangeOf, hasHistoryOf, lastingNotices, noticesOf } from '../../src/app/notices.ts';
import type { ServiceStatus } from '../../src/app/service-status.ts';

const NOW = new Date(2026, 0, 1, 12, 30, 0).getTime();
const at = (time: number) => new Date(time).toISOString();

type Upstream = ServiceStatus['upstreams'][number];
const node: Upstream = {
  upstream: 'NODE',
  configured: true,
  healthy: true,
  lastSuccessAt: at(NOW),
  lastErrorAt: null,
  lastErrorCode: null,
};
const marketData: Upstream = { ...node, upstream: 'MARKET_DATA' };

const WELL: ServiceStatus = {
  version: '1.0.0',
  sandbox: false,
  time: at(NOW),
  historyStatus: 'RECORDING',
  head: {
    id: 'Head:100',
    beaconHeight: 100,
    previousHeight: 99,
    hash: 'hash',
    time: at(NOW - 9_000),
    observedAt: at(NOW - 5_000),
    stale: false,
  },
  marketData: { observedAt: at(NOW - 1_000), stale: false },
  upstreams: [node, marketData],
};

function notices(service: Partial<ServiceStatus>, input: Partial<Parameters<typeof noticesOf>[0]> = {}) {
  const connection = { name: 'connected', over: 'websocket' } as const;
  const all = { connection, status: undefined, service: { ...WELL, ...service }, beganAgainAt: undefined, now: NOW };
  return noticesOf({ ...all, ...input }).map(({ tone, title, text }) => `${tone}: ${title}. ${text}`);
}

test('there is nothing to say about a gateway that is well, nor before it has answered', () => {
  expect(notices({})).toEqual([]);
  expect(notices({}, { service: undefined, connection: { name: 'connecting' } })).toEqual([]);
});

test('what a gateway is and lacks as long as it runs is named, as soon as the page is drawn', () => {
  const lasting = (service: Partial<ServiceStatus> | undefined, served = '') =>
    lastingNotices(service && { ...WELL, ...service }, served).map(({ key, title }) => `${key}: ${title}`);
  const all = ['NODE: No node', 'MARKET_DATA: No market-data host', 'history: No history', 'sandbox: Sandbox'];
  const upstreams = [node, marketData].map((upstream) => ({ ...upstream, configured: false }));
  expect(lasting({ upstreams, historyStatus: 'OFF', sandbox: true })).toEqual(all);
  expect(lasting(undefined, 'NODE MARKET_DATA history sandbox')).toEqual(all);
  expect([lasting(undefined), lasting({}, 'sandbox'), lasting({ historyStatus: 'UNAVAILABLE' })]).toEqual([[], [], []]);
});

test('a history that cannot be read now is not known to be off', () => {
  const has = (historyStatus: ServiceStatus['historyStatus']) => hasHistoryOf({ ...WELL, historyStatus }, '');
  expect([has('RECORDING'), has('UNAVAILABLE'), has('OFF')]).toEqual([true, undefined, false]);
  expect([hasHistoryOf(undefined, ''), hasHistoryOf(undefined, 'history')]).toEqual([undefined, false]);
});

test('a list is sorted by changes only while they can be read, and until the gateway has said it', () => {
  const can = (historyStatus: ServiceStatus['historyStatus']) => canSortByChangeOf({ ...WELL, historyStatus }, '');
  expect([can('RECORDING'), can('UNAVAILABLE'), can('OFF')]).toEqual([true, false, false]);
  expect([canSortByChangeOf(undefined, ''), canSortByChangeOf(undefined, 'history')]).toEqual([true, false]);
});

describe('the connection', () => {
  test('says that the gateway refuses the page', () => {
    const connection = { name: 'reconnecting', since: NOW - 90_000 } as const;
    expect(notices({}, { connection, status: 403 })).toEqual([
      'danger: Refused. The requests of this page are refused with status 403. A proxy in front of the gateway must forward the Host header, or CORS_ORIGINS must list the origin of this page.',
    ]);
    expect(notices({}, { connection, status: 502 })).toEqual([expect.stringContaining('has not reached the gateway')]);
  });

  test('says since when it is lost', () => {
    const since = NOW - 90_000;
    expect(notices({}, { connection: { name: 'reconnecting', since } })).toEqual([
      'warning: Reconnecting. The page has not reached the gateway since 12:28:30. It shows the data from then, and tries again by itself.',
    ]);
    expect(notices({}, { connection: { name: 'disconnected', since } })).toEqual([
      expect.stringMatching(/^danger: Disconnected\. /),
    ]);
  });

  test('says that it is without a websocket', () => {
    expect(notices({}, { connection: { name: 'connected', over: 'event-streams' } })).toEqual([
      'information: No websocket. The page receives live data over event streams, because it cannot open a websocket: a proxy may block websockets or not forward the Host header, or the gateway or the connection is slow. It tries again every minute.',
    ]);
  });

  test('says for a while that the page began again', () => {
    expect(notices({}, { beganAgainAt: NOW - 1_000 })).toEqual([
      expect.stringMatching(/^warning: The chain has changed\. /),
    ]);
    expect(notices({}, { beganAgainAt: NOW - 60_000 })).toEqual([]);
  });
});

describe('an upstream', () => {
  test('that cannot be read makes its data stale: which, since when, why', () => {
    const upstreams = [{ ...node, healthy: false, lastErrorCode: 'UPSTREAM_TIMEOUT' }, marketData];
    const head = WELL.head && { ...WELL.head, stale: true, observedAt: at(NOW - 60_000) };
    expect(notices({ head, upstreams })).toEqual([
      'warning: Chain data is stale. The node cannot be read since 12:29:00: it does not respond in time. Pools, swaps and the chain are not updated.',
    ]);
  });

  test('that answers, but sends nothing new, makes them stale too', () => {
    expect(notices({ marketData: { observedAt: at(NOW - 60_000), stale: true } })).toEqual([
      'warning: Market data is stale. The market-data host responds, but has sent nothing new since 12:29:00.',
    ]);
  });

  test('that could not be read at all says so, but not while the gateway starts', () => {
    const unread = { ...marketData, healthy: false, lastSuccessAt: null };
    expect(notices({ marketData: null, upstreams: [node, unread] })).toEqual([]);
    const failed = { ...unread, lastErrorCode: 'UPSTREAM_UNREACHABLE' };
    expect(notices({ marketData: null, upstreams: [node, failed] })).toEqual([
      expect.stringContaining('The market-data host cannot be read: it cannot be reached.'),
    ]);
  });

  test('that is not configured is not stale', () => {
    const upstreams = [{ ...node, configured: false, healthy: false }, marketData];
    expect(notices({ head: null, upstreams })).toEqual([]);
  });
});

test('the history is unavailable', () => {
  expect(notices({ historyStatus: 'UNAVAILABLE' })).toEqual([
    expect.stringMatching(/^information: History unavailable\. /),
  ]);
});

test('no text counts seconds: screen readers would read it out each time', () => {
  const later = (now: number) =>
    notices({ sandbox: true, historyStatus: 'OFF' }, { connection: { name: 'reconnecting', since: NOW }, now });
  expect(later(NOW + 1_000)).toEqual(later(NOW + 9_000));
});
