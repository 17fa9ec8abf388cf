import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createReadOnce } from '../../src/fleet/read-once.ts';
import { type Redis, RedisUnavailableError } from '../../src/fleet/redis.ts';
import type { RedisReply } from '../../src/fleet/redis-client.ts';
import { decodeValue, encodeValue } from '../../src/fleet/values.ts';
import { timesAlone } from '../support/fleet.ts';
import { startGatewayForTest, type TestGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { hasRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { keptOutcomes, startRedisForTests } from './connected.ts';

/** The reads of a replica with a clock of its own, and what they send. @param reply what Redis replies with */
function readsWith(reply: () => RedisReply) {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const sent: (readonly unknown[])[] = [];
  const waits: number[] = [];
  const run: Redis['run'] = async (_script, _keys, args) => {
    sent.push(args.slice(1));
    return reply();
  };
  const redis = { isAvailable: () => true, key: (kind, id) => `${kind}:${id}`, run } satisfies Partial<Redis>;
  const read = createReadOnce<string | undefined>({
    redis: redis as Partial<Redis> as Redis,
    kind: 'trades',
    ttlMs: 5_000,
    maxWaitMs: 5_000,
    watcher: { ...keptOutcomes(), waited: (_, seconds) => void waits.push(seconds) },
  });
  return { read, sent, waits };
}

/** What Redis replies with at a time of its own, in ms. */
const AT = Buffer.from('10000');

test('a value is as old as the response of its upstream, and not as the request for it', async () => {
  const { read, sent } = readsWith(() => [AT, 1]);
  const value = await read('a', async () => {
    vi.advanceTimersByTime(300);
    return 'value';
  });
  expect(value).toEqual({ value: 'value', ageMs: 0 });
  const [, [bytes, storedUntil] = []] = sent;
  expect(decodeValue(bytes as Buffer)).toEqual({ id: 'a', observedAt: 10_300, packed: 'value' });
  expect(storedUntil).toBe('15300');
});

test.each([
  ['is older by the time that the reply took', 100, 300],
  ['is never from the future', -500, 200],
])('a value of Redis %s', async (_, agoMs, ageMs) => {
  const bytes = encodeValue({ id: 'a', observedAt: 10_000 - agoMs, packed: 'value' });
  const { read } = readsWith(() => {
    vi.advanceTimersByTime(200);
    return [AT, 0, bytes];
  });
  expect(await read('a', () => Promise.reject(new Error('it was read again')))).toEqual({ value: 'value', ageMs });
});

test('the time that a read waited for another replica is measured in seconds', async () => {
  const replies = [
    [AT, 0],
    [AT, 0, encodeValue({ id: 'a', observedAt: 10_000, packed: 'value' })],
  ];
  const { read, waits } = readsWith(() => {
    vi.advanceTimersByTime(700);
    return replies.shift() ?? null;
  });
  await read('a', () => Promise.reject(new Error('it was read again')));
  expect(waits).toEqual([1.4]);
});

test('a value that is not for the fleet is not stored, and nobody waits until its lock expires', async () => {
  const { read, sent } = readsWith(() => [AT, 1]);
  await read('a', async () => undefined);
  expect(sent.slice(1)).toEqual([['0']]);
});

test('a value is returned, and an error thrown, also if Redis fails during the read', async () => {
  const replies: RedisReply[] = [
    [AT, 1],
    [AT, 1],
  ];
  const { read, sent } = readsWith(() => {
    const reply = replies.shift();
    if (reply === undefined) throw new RedisUnavailableError();
    return reply;
  });
  const [first, second] = [read('a', async () => 'value'), read('b', () => Promise.reject(new Error('no node')))];
  expect(await first).toEqual({ value: 'value', ageMs: 0 });
  await expect(second).rejects.toThrow('no node');
  // The value, and the lock that would be free.
  expect(sent).toHaveLength(4);
});

describe.skipIf(!hasRedis)('the replicas of a fleet', () => {
  const server = startRedisForTests();
  beforeEach(() => server.flush());

  /** Replicas in front of the sandbox of the first. They read together. */
  async function startReplicas(count: number, options: TestGatewayOptions = {}): Promise<TestGateway[]> {
    const config = { redisUrl: [server.url], ...options.config };
    const first = await startGatewayForTest({ ...options, config });
    const others = Array.from({ length: count - 1 }, () => startGatewayForTest({ config, of: first.sandbox }));
    const replicas = [first, ...(await Promise.all(others))];
    await Promise.all(replicas.map((replica) => replica.untilReady()));
    await untilTogether(replicas);
    return replicas;
  }

  const untilTogether = (replicas: readonly TestGateway[]) =>
    until(() => replicas.every(({ app }) => app.fleet?.status().isConnected === true));

  test('read a past height once, at the same time and later', async () => {
    const replicas = await startReplicas(4);
    const { sandbox } = replicas[0] as TestGateway;
    const calls = () => sandbox.node.calls('getpdestate');
    let at = sandbox.chain.tip.height - 50;
    let [read, readLate, alone] = [0, 0, 0];
    let late: readonly TestGateway[];
    // On a busy machine, Redis may not reply in time. Then a replica reads for itself, and they read another height.
    do {
      await untilTogether(replicas);
      at -= 1;
      const query = `{ poolPairs(first: 3, at: ${at}) { nodes { beaconHeight token1PoolValue token2PoolValue } } }`;
      alone = timesAlone(replicas);
      const before = calls();
      const answers = await Promise.all(replicas.map((replica) => replica.ask(query)));
      read = calls() - before;
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect(answers[0]?.data.poolPairs.nodes).toHaveLength(3);

      late = await startReplicas(1, { of: sandbox });
      const started = calls();
      expect(await late[0]?.ask(query)).toEqual(answers[0]);
      readLate = calls() - started;
    } while (timesAlone([...replicas, ...late]) !== alone);
    expect([read, readLate]).toEqual([1, 0]);
  });

  test('read an order book once, whose age they share', async () => {
    const replicas = await startReplicas(4, { config: { orderBookTtlMs: 60_000 } });
    const { sandbox } = replicas[0] as TestGateway;
    const tickerIds = sandbox.chain.markets.map(({ tickerId }) => tickerId);
    let [read, alone] = [0, 0];
    do {
      await untilTogether(replicas);
      const query = `{ ticker(tickerId: "${tickerIds.shift()}") { orderBook(depth: 4) { bestBid bestAsk bids { price quantity } } } }`;
      alone = timesAlone(replicas);
      const before = sandbox.marketData.calls('orderbook');
      const answers = await Promise.all(replicas.map((replica) => replica.ask(query)));
      read = sandbox.marketData.calls('orderbook') - before;
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect(answers[0]?.data.ticker.orderBook.bids.length).toBeGreaterThan(0);
    } while (timesAlone(replicas) !== alone);
    expect(read).toBe(1);
  });

  test('read the order books of all tickers once, in turn', async () => {
    const replicas = await startReplicas(3, {
      config: { bookSweepPerMinute: 1_200, orderBookTtlMs: 60_000 },
      sandbox: { pools: 12 },
    });
    const { sandbox } = replicas[0] as TestGateway;
    const tickersOf = async ({ app }: TestGateway): Promise<readonly { ticker_id: string; bid?: number }[]> => {
      const { origin } = new URL(await app.listen(0, '127.0.0.1'));
      return (await (await fetch(`${origin}/api/v1/public/market-data/tickers`)).json()).tickers;
    };
    const counts = async (replica: TestGateway) => {
      const tickers = await tickersOf(replica);
      const ids = (rows: typeof tickers) => new Set(rows.map((row) => row.ticker_id)).size;
      return { all: ids(tickers), withBid: ids(tickers.filter(({ bid }) => bid !== undefined)) };
    };
    // A book that is empty may be read last.
    const empty = sandbox.chain.markets.filter(({ oddity }) => oddity === 'empty book').length;
    for (const replica of replicas)
      await until(async () => {
        const { all, withBid } = await counts(replica);
        return withBid === all - empty;
      });
    const { all } = await counts(replicas[0] as TestGateway);
    await expect.poll(() => sandbox.marketData.calls('orderbook') === all || timesAlone(replicas) > 0).toBe(true);
  });
});
