import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { ExchangeState } from '../../src/domain/exchange.ts';
import { createStateReads, createTradesReads } from '../../src/fleet/reads.ts';
import type { Redis } from '../../src/fleet/redis.ts';
import { createPoolDirectories } from '../../src/upstream/node/pools-reader.ts';
import { exchangeStateOf, MAX_RESERVE, poolOf, tokenId } from '../domain/pools.ts';
import { hasRedis, linkServer } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { connectForTest, connectPatiently, hasKey, keptOutcomes, readUntil, startRedisForTests } from './connected.ts';

/** The exchange after a height, with two pools. */
function stateAt(height: number): ExchangeState {
  const pools = [
    poolOf(MAX_RESERVE, 0n, { beaconHeight: height }),
    poolOf(1n, BigInt(height), { beaconHeight: height, token2Id: tokenId('c') }),
  ];
  return exchangeStateOf(height, pools, height * 40_000);
}

/** One replica, which knows of this number of pools, and how its reads went. */
function replicaOf(redis: Redis, maxWaitMs = 5_000, pools = 2) {
  const watcher = keptOutcomes();
  const directories = createPoolDirectories();
  const readOnce = createStateReads({
    redis,
    directoryOf: directories.of,
    maxWaitMs,
    watcher,
  });
  const isComplete = (state: ExchangeState) => state.directory.ids.length >= pools;
  return {
    ...watcher,
    directories,
    isStored: (height: number) => hasKey(redis, valueKey(height)),
    read: (height: number, read: () => Promise<ExchangeState>, chainName = 'main') =>
      readOnce({ chainName, height, isV1: false, isComplete }, read),
  };
}

const valueKey = (height: number) => `test:state:{3-main-${height}}`;

const never = () => Promise.reject(new Error('the state was read again'));

describe.skipIf(!hasRedis)('final states of a fleet', () => {
  const server = startRedisForTests();
  beforeEach(() => server.flush());

  /** Replicas with connections of their own. */
  const replicas = async (count: number) =>
    Promise.all(Array.from({ length: count }, async () => replicaOf(await connectPatiently(server))));

  /** Reads a state, and waits until Redis has it. */
  const store = (replica: ReturnType<typeof replicaOf> | undefined, height: number) =>
    readUntil(
      async () => (await replica?.isStored(height)) === true,
      async () => replica?.read(height, async () => stateAt(height)),
    );

  test('are read once by replicas that need one at the same time', async () => {
    const all = await replicas(4);
    const { promise: response, resolve: respond } = Promise.withResolvers<ExchangeState>();
    let calls = 0;
    const read = () => {
      calls += 1;
      return response;
    };
    const reads = all.map((replica) => replica.read(97, read));
    await until(() => calls > 0);
    respond(stateAt(97));
    expect(await Promise.all(reads)).toEqual(Array(4).fill(stateAt(97)));
    expect(calls).toBe(1);
    expect(all.flatMap(({ outcomes }) => outcomes).sort()).toEqual(['read', 'waited', 'waited', 'waited']);
  });

  test('are read once by replicas that need one later, with one directory', async () => {
    const [one, other] = await replicas(2);
    for (const height of [97, 98]) await store(one, height);
    const states = [await other?.read(97, never), await other?.read(98, never)];
    expect(states).toEqual([stateAt(97), stateAt(98)]);
    expect(states[0]?.directory).toBe(states[1]?.directory);
    expect(states[0]?.directory).toBe(other?.directories.of(states[0]?.directory.ids ?? []));
    expect(other?.outcomes).toEqual(['hit', 'hit']);
  });

  test('are of one height and one chain', async () => {
    const [one, other] = await replicas(2);
    await store(one, 97);
    expect(await other?.read(98, async () => stateAt(98))).toEqual(stateAt(98));
    expect(await other?.read(97, async () => stateAt(97), 'test')).toEqual(stateAt(97));
    expect(other?.outcomes).toEqual(['read', 'read']);
  });

  test('expire', async () => {
    const [one] = await replicas(1);
    await store(one, 97);
    const keys = server
      .cli('--scan')
      .split('\n')
      .filter((key) => key !== '{test}:probe');
    expect(keys).toEqual([valueKey(97)]);
    for (const key of keys) expect(Number(server.cli('pttl', key))).toBeGreaterThan(0);
  });

  test('that lost pools are not stored', async () => {
    const all = await replicas(2);
    let calls = 0;
    const read = async () => {
      calls += 1;
      return exchangeStateOf(97, []);
    };
    for (const replica of all) expect(await replica.read(97, read)).toEqual(exchangeStateOf(97, []));
    expect(calls).toBe(2);
    expect(await all[0]?.isStored(97)).toBe(false);
  });

  test('that lost pools, as another replica does not know yet, are read again', async () => {
    const [one] = await replicas(1);
    await store(one, 97);
    const other = replicaOf(await connectPatiently(server), 5_000, 3);
    const pools = ['c', 'd', 'e'].map((id) => poolOf(1n, 97n, { beaconHeight: 97, token2Id: tokenId(id) }));
    const complete = exchangeStateOf(97, pools);
    expect(await other.read(97, async () => complete)).toEqual(complete);
    expect(other.outcomes).toEqual(['hit']);
  });

  test('whose upstream fails are read by the next replica at once', async () => {
    const [one, other] = await replicas(2);
    await expect(one?.read(97, () => Promise.reject(new Error('no node')))).rejects.toThrow('no node');
    expect(await other?.read(97, async () => stateAt(97))).toEqual(stateAt(97));
    expect(other?.outcomes).toEqual(['read']);
  });

  test('whose upstream fails for a replica that has lost the lock leave it to the other one that has it', async () => {
    const connection = await connectPatiently(server);
    const lock = `${valueKey(97)}:lock`;
    const reading = replicaOf(connection).read(97, async () => {
      server.cli('set', lock, 'the other one');
      throw new Error('no node');
    });
    await expect(reading).rejects.toThrow('no node');
    // Redis replies after all that was sent before.
    expect(String(await connection.command(lock, 'GET', lock))).toBe('the other one');
  });

  test.each([
    ['was stopped', '100'],
    ['was stopped before the clock of Redis was set back', '3600000'],
  ])('of a replica that %s are read by another one', async (_, lockMs) => {
    const [one] = await replicas(1);
    // The lock of a replica that is gone.
    server.cli('set', `${valueKey(97)}:lock`, 'somebody', 'px', lockMs);
    expect(await one?.read(97, async () => stateAt(97))).toEqual(stateAt(97));
    expect(one?.outcomes).toEqual(['read']);
  });

  test('are read alone if another replica takes too long', async () => {
    const slow = replicaOf(await connectPatiently(server));
    const quick = replicaOf(await connectPatiently(server), 50);
    const { promise: response, resolve: respond } = Promise.withResolvers<ExchangeState>();
    const reading = slow.read(97, () => response);
    await until(() => slow.outcomes.length > 0);
    expect(await quick.read(97, async () => stateAt(97))).toEqual(stateAt(97));
    expect(quick.outcomes).toEqual(['alone']);
    respond(stateAt(97));
    await reading;
  });

  test.each<[string, (key: string) => void]>([
    ['other bytes', (key) => void server.cli('set', key, 'x'.repeat(500))],
    ['nothing', (key) => void server.cli('set', key, '')],
    ['one byte more', (key) => void server.cli('append', key, 'x')],
    ['another byte', (key) => void server.cli('setrange', key, '60', 'x')],
    [
      'a list',
      (key) => void server.cli('eval', "redis.call('DEL', KEYS[1]) redis.call('LPUSH', KEYS[1], 'x')", '1', key),
    ],
    ['the state of another height', (key) => void server.cli('copy', valueKey(98), key, 'replace')],
  ])('are ignored and overwritten if they are %s', async (_name, damage) => {
    const [one, other, third] = await replicas(3);
    for (const height of [97, 98]) await store(one, height);
    damage(valueKey(97));
    expect(await other?.read(97, async () => stateAt(97))).toEqual(stateAt(97));
    expect(other?.outcomes).toEqual(['read']);
    await store(other, 97);
    expect(await third?.read(97, never)).toEqual(stateAt(97));
  });

  test('are read again after Redis was wiped', async () => {
    const [one, other] = await replicas(2);
    await store(one, 97);
    server.flush();
    await store(one, 98);
    expect(await other?.read(98, never)).toEqual(stateAt(98));
  });

  test('are read alone while Redis is cut off', async () => {
    const link = await linkServer(server);
    onTestFinished(link.close);
    const redis = await connectForTest(link);
    const replica = replicaOf(redis);
    const lost = new Promise<void>((resolve) => void redis.onChange(resolve));
    link.cut();
    await lost;
    expect(await replica.read(97, async () => stateAt(97))).toEqual(stateAt(97));
    expect(replica.outcomes).toEqual(['alone']);
  });

  test('are read alone after half a second if Redis does not reply', async () => {
    const link = await linkServer(server);
    onTestFinished(link.close);
    const replica = replicaOf(await connectForTest(link));
    link.delay(60_000);
    expect(await replica.read(97, async () => stateAt(97))).toEqual(stateAt(97));
    expect(await replica.read(98, async () => stateAt(98))).toEqual(stateAt(98));
    expect(replica.outcomes).toEqual(['alone', 'alone']);
  });

  test('have the trades of one block beside them, also if another block had the same height', async () => {
    const redis = await connectPatiently(server);
    const read = createTradesReads({ redis, maxWaitMs: 5_000, watcher: keptOutcomes() });
    for (const hash of ['a', 'b']) {
      const trades = { trades: [], isComplete: true, poolsWithLiquidityChanges: new Set([hash]) };
      expect(await read({ chainName: 'main', height: 97, hash }, async () => trades)).toEqual(trades);
    }
  });
});
