import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createRedis, type Redis, RedisUnavailableError } from '../../src/fleet/redis.ts';
import { NEVER_MS } from '../support/gateway.ts';
import { hasRedis, linkServer, type RedisServer, startRedis, startSentinel } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { patiently, startRedisForTests } from './connected.ts';

/** The longest time until a Redis that can be used is available: only for what hangs. */
const READY_MS = 60_000;

/** A connection for one test, and what its watcher was notified of. */
function connect(urls: readonly URL[], stableMs?: number): { readonly redis: Redis; readonly changes: string[] } {
  const changes: string[] = [];
  const watcher = {
    available: () => void changes.push('available'),
    // Each failure of an outage is reported.
    unavailable: () => void (changes.at(-1) !== 'unavailable' && changes.push('unavailable')),
  };
  const redis = createRedis({ urls, prefix: 'test', watcher, ...(stableMs && { stableMs }) });
  onTestFinished(redis.close);
  return { redis, changes };
}

/** Resolves with the next change. */
async function nextChange(redis: Redis): Promise<boolean> {
  await new Promise<void>((resolve) => void redis.onChange(resolve));
  return redis.isAvailable();
}

describe.skipIf(!hasRedis)('the connection to Redis', () => {
  const server = startRedisForTests();
  beforeEach(() => server.flush());

  test('sends commands, whose replies are bytes', async () => {
    const { redis, changes } = connect([server.url]);
    expect(await redis.ready(READY_MS)).toBe(true);
    const key = redis.key('book', 'a-b');
    expect(key).toBe('test:book:a-b');
    expect(await redis.command(key, 'SET', key, Buffer.from([0, 255, 13, 10]))).toBe('OK');
    expect(await redis.command(key, 'GET', key)).toEqual(Buffer.from([0, 255, 13, 10]));
    expect(await redis.command(key, 'GET', `${key}x`)).toBeNull();
    expect(changes).toEqual(['available']);
    expect(redis.errors()).toBe(0);
  });

  test('runs a script', async () => {
    const { redis } = connect([server.url]);
    await redis.ready(READY_MS);
    const script = "return {redis.call('INCR', KEYS[1]), ARGV[1]}";
    const key = redis.fleetKey('count');
    expect(key).toBe('{test}:count');
    expect(await redis.run(script, [key], ['a'])).toEqual([1, Buffer.from('a')]);
    expect(await redis.run(script, [key], ['b'])).toEqual([2, Buffer.from('b')]);
    expect(redis.errors()).toBe(0);
  });

  test('is available after a reply that a command is wrong', async () => {
    const { redis } = connect([server.url]);
    await redis.ready(READY_MS);
    await redis.command('list', 'LPUSH', 'list', 'a');
    await expect(redis.command('list', 'GET', 'list')).rejects.toThrow('WRONGTYPE');
    expect(redis.isAvailable()).toBe(true);
    expect(redis.errors()).toBe(1);
  });

  test('fails at once while Redis is stopped, and is available again afterwards', async () => {
    const { redis, changes } = connect([server.url]);
    await redis.ready(READY_MS);
    server.pause();
    const pending = redis.command('a', 'GET', 'a');
    await expect(pending).rejects.toThrow(RedisUnavailableError);
    expect(redis.isAvailable()).toBe(false);
    const later = redis.command('a', 'GET', 'a');
    await expect(Promise.race([later, sleep(0, 'waits')])).rejects.toThrow(RedisUnavailableError);
    server.resume();
    expect(await nextChange(redis)).toBe(true);
    expect(await redis.command('a', 'GET', 'a')).toBeNull();
    expect(changes).toEqual(['available', 'unavailable']);
  });

  test('pauses before each probe while commands fail as soon as it is available: for its watcher, that is one outage', async () => {
    const setUser = (...rules: readonly string[]) => server.cli('acl', 'setuser', 'writer', ...rules);
    setUser('on', '>secret', '~*', '&*', '-@all', '+hello', '+set', '+subscribe');
    onTestFinished(() => void server.cli('acl', 'deluser', 'writer'));
    const url = new URL(server.url);
    url.username = 'writer';
    url.password = 'secret';
    // Longer than a command can take.
    const { redis, changes } = connect([url], 600);
    const lostAt: number[] = [];
    redis.onChange(() => {
      if (redis.isAvailable()) redis.command('a', 'GET', 'a').catch(() => {});
      else lostAt.push(performance.now());
    });
    await until(() => lostAt.length >= 5);
    const [first = 0, , , , fifth = 0] = lostAt;
    // The pauses were at least 25, 50, 100 and 200 ms.
    expect(fifth - first).toBeGreaterThan(350);
    expect(changes.lastIndexOf('available')).toBe(0);
    setUser('+get');
    await until(() => changes.at(-1) === 'available');
  });

  test('connects again to a Redis that was killed', async () => {
    const { redis } = connect([server.url]);
    await redis.ready(READY_MS);
    const change = nextChange(redis);
    await server.kill();
    expect(await change).toBe(false);
    await server.restart();
    expect(await redis.ready(READY_MS)).toBe(true);
  });

  test('is not available while each reply takes longer than half a second', async () => {
    const link = await linkServer(server);
    onTestFinished(link.close);
    const { redis } = connect([link.url]);
    await redis.ready(READY_MS);
    link.delay(700);
    // A busy machine can take a late reply for one in time: then the command is sent again.
    const failure = () =>
      redis.command('a', 'GET', 'a').then(
        () => undefined,
        (error) => error,
      );
    const staysUnavailable = async () =>
      (await failure()) instanceof RedisUnavailableError && !(await redis.ready(1_000));
    await expect.poll(staysUnavailable).toBe(true);
    link.delay(0);
    expect(await redis.ready(READY_MS)).toBe(true);
  });

  test('is opened again if it gets no more replies', async () => {
    const link = await linkServer(server);
    onTestFinished(link.close);
    const { redis } = connect([link.url]);
    await redis.ready(READY_MS);
    link.delay(NEVER_MS);
    await expect(redis.command('a', 'GET', 'a')).rejects.toThrow(RedisUnavailableError);
    // The replies of this connection stay behind the one that never comes.
    link.delay(0);
    expect(await redis.ready(READY_MS)).toBe(true);
  });

  test('is not available while Redis cannot write', async () => {
    const { redis } = connect([server.url]);
    await redis.ready(READY_MS);
    server.cli('replicaof', '127.0.0.1', '1');
    onTestFinished(() => void server.cli('replicaof', 'no', 'one'));
    await expect(redis.command('a', 'SET', 'a', '1')).rejects.toThrow(RedisUnavailableError);
    expect(await redis.ready(200)).toBe(false);
    server.cli('replicaof', 'no', 'one');
    expect(await redis.ready(READY_MS)).toBe(true);
  });

  test('is not available after each reply that means an outage, until a probe succeeds', async () => {
    const { redis } = connect([server.url], 1);
    const key = redis.fleetKey('a');
    const takesForOutage = async (reply: string): Promise<boolean> => {
      await redis.ready(READY_MS);
      const error = await redis
        .run("return redis.error_reply(ARGV[1] .. ' now')", [key], [reply])
        .catch((thrown) => thrown);
      return error instanceof RedisUnavailableError;
    };
    const outages = [
      'READONLY',
      'LOADING',
      'MASTERDOWN',
      'CLUSTERDOWN',
      'TRYAGAIN',
      'NOREPLICAS',
      'MISCONF',
      'OOM',
      'NOAUTH',
      'WRONGPASS',
      'NOPERM',
      'ERR max number of clients',
    ];
    const taken: string[] = [];
    for (const reply of outages) if (await takesForOutage(reply)) taken.push(reply);
    expect(taken).toEqual(outages);
    // On a busy machine, Redis may not reply in time.
    await expect.poll(() => takesForOutage('ERR max number of databases')).toBe(false);
  });

  test('counts a reply that has come while the gateway was busy for longer than a command may take', async () => {
    const { redis } = connect([server.url]);
    const stayBusy = async () => {
      await redis.ready(READY_MS);
      const reply = redis.command('a', 'GET', 'a').catch((error) => error);
      // It sends the command before.
      await new Promise(setImmediate);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
      return reply;
    };
    await expect.poll(stayBusy).toBeNull();
  });

  test('sends each message of the channel to each connection, also after Redis was restarted', async () => {
    const [one, other] = [connect([server.url]).redis, connect([server.url]).redis];
    await Promise.all([one.ready(READY_MS), other.ready(READY_MS)]);
    const received: string[] = [];
    one.onMessage((message) => void received.push(`one ${message}`));
    other.onMessage((message) => void received.push(`other ${message}`));
    const lost = Promise.all([nextChange(one), nextChange(other)]);
    await server.restart();
    await lost;
    await Promise.all([one.ready(READY_MS), other.ready(READY_MS)]);
    await patiently(one, () => one.command('', 'PUBLISH', one.channel, 'ü'));
    // It is sent again if Redis replies late.
    await expect.poll(() => new Set(received)).toEqual(new Set(['one ü', 'other ü']));
  });

  test('reports a Redis that is not there, and keeps trying', async () => {
    const link = await linkServer(server);
    onTestFinished(link.close);
    link.cut();
    const { redis, changes } = connect([link.url]);
    expect(await nextChange(redis)).toBe(false);
    expect(await redis.ready(100)).toBe(false);
    expect(changes).toEqual(['unavailable']);
    link.restore();
    expect(await redis.ready(READY_MS)).toBe(true);
  });
});

describe.skipIf(!hasRedis)('other forms of Redis', () => {
  async function start(args: readonly string[]): Promise<RedisServer> {
    const server = await startRedis(args);
    onTestFinished(server.close);
    return server;
  }

  test('a password and a database', async () => {
    const server = await start(['--requirepass', 'sw/ord:fish']);
    const { redis } = connect([new URL(`redis://:${encodeURIComponent('sw/ord:fish')}@127.0.0.1:${server.port}/3`)]);
    await redis.ready(READY_MS);
    await redis.command('a', 'SET', 'a', '1');
    expect(server.cli('-a', 'sw/ord:fish', '--no-auth-warning', '-n', '3', 'get', 'a')).toBe('1');
  });

  test('the primary that Sentinel names, both with a user', async () => {
    const primary = await start([]);
    const sentinel = await startSentinel('mymaster', primary);
    onTestFinished(sentinel.close);
    for (const { cli } of [primary, sentinel]) cli('acl', 'setuser', 'gateway', 'on', '>secret', '~*', '&*', '+@all');
    sentinel.cli('acl', 'setuser', 'default', 'resetpass');
    const url = `redis+sentinel://gateway:secret@127.0.0.1:${sentinel.port}/mymaster/2`;
    const { redis } = connect([new URL(url), new URL(`${url}?sentinel-auth`)]);
    expect(await redis.ready(READY_MS)).toBe(true);
    await redis.command('a', 'SET', 'a', '1');
    expect(primary.cli('-n', '2', 'get', 'a')).toBe('1');
    // The connection for its messages is idle, and stays open.
    const asGateway = ['--user', 'gateway', '--pass', 'secret', '--no-auth-warning'];
    await until(() => /^.* age=([4-9]|\d{2,}) .* psub=[1-9]/m.test(sentinel.cli(...asGateway, 'client', 'list')));
  });
});
