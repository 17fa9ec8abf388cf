import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ExchangeState } from '../../src/domain/exchange.ts';
import { createHeadPolls } from '../../src/fleet/head-polls.ts';
import type { PollContext } from '../../src/fleet/poll-options.ts';
import { createRedisClock } from '../../src/fleet/redis.ts';
import type { Head } from '../../src/live/chain/head.ts';
import { exchangeStateOf } from '../domain/pools.ts';
import { headOf } from '../live/chain/heads.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { connectPatiently, keptOutcomes } from './connected.ts';

/** Polls of a replica that stores four heads. Without Redis, it is alone. */
function headPolls(
  readState: (height: number) => Promise<ExchangeState>,
  { connection, onLag = () => {} }: { connection?: PollContext['redis']; onLag?: (lagMs: number) => void } = {},
) {
  const redis = connection ?? { onMessage() {}, fleetKey: (name: string) => name, ready: async () => false };
  const members = {
    id: randomUUID(),
    takesPart: () => connection !== undefined,
    count: () => 1,
    joinChain: async () => {},
  };
  return createHeadPolls({
    context: { redis, clock: createRedisClock(), members, watcher: keptOutcomes() } as unknown as PollContext,
    directoryOf: () => exchangeStateOf(1, []).directory,
    nodes: { all: [headOf(1).source], poll: async () => [] },
    pastStates: { read: readState },
    headsKept: 4,
    now: () => 0,
    onLag,
  });
}

test('skipped heights are filled in: the newest ones, in order, and without those that take too long', async () => {
  const [requested, lags]: [number[], number[]] = [[], []];
  const readState = async (height: number) => {
    requested.push(height);
    // The state of 18 comes before that of 17, and that of 19 never.
    if (height === 17) await Promise.resolve();
    if (height === 19) await new Promise(() => {});
    return exchangeStateOf(height, [], height);
  };
  const polls = headPolls(readState, { onLag: (lagMs) => lags.push(lagMs) });
  const [previous, head] = [headOf(10), headOf(20)];
  const polled = await polls.poll({ previous, remembered: [previous], idleMs: 1, read: async () => head });
  expect(requested).toEqual([17, 18, 19]);
  expect(polled?.filledIn?.map(({ beaconHeight }) => beaconHeight)).toEqual([17, 18]);
  expect(lags).toEqual([0]);
});

describe.skipIf(!hasRedis)('with Redis', () => {
  const readState = async (height: number) => exchangeStateOf(height, [], height);

  /** Polls of a replica that has one head and reads another one. */
  async function replica(server: RedisServer, previous: Head, next: Head) {
    const polls = headPolls(readState, { connection: await connectPatiently(server) });
    return () => polls.poll({ previous, remembered: [previous], idleMs: 1, read: async () => next });
  }

  /** Starts a Redis in which a replica has published height 10, after 9 was filled in. */
  async function startFilledIn() {
    const server = await startRedis();
    onTestFinished(() => server.close());
    const poll = await replica(server, headOf(8), headOf(10));
    let filled: Head | undefined;
    // Its first poll publishes what it has, and it reads when the interval is over.
    while (filled?.beaconHeight !== 10) filled = await poll();
    expect(filled.filledIn?.map(({ beaconHeight }) => beaconHeight)).toEqual([9]);
    return server;
  }

  test('a height that a replica has read by itself is not sent again when another one has filled it in', async () => {
    const poll = await replica(await startFilledIn(), headOf(9), headOf(9));
    expect(await poll()).toMatchObject({ beaconHeight: 10, previousHeight: 9, filledIn: [] });
  });

  test('a height that was filled in is no head when Redis has lost the one above it', async () => {
    const server = await startFilledIn();
    const key = server.cli('keys', '*:values');
    expect(server.cli('zremrangebyscore', key, '10', '10')).toBe('1');
    const poll = await replica(server, headOf(8), headOf(10));
    expect(await poll()).toMatchObject({ beaconHeight: 8 });
    let head: Head | undefined;
    while (head?.beaconHeight !== 10) head = await poll();
    expect(head.filledIn?.map(({ beaconHeight }) => beaconHeight)).toEqual([9]);
  });
});
