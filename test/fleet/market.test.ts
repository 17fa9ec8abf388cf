import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { request } from 'undici';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Pair } from '../../src/domain/market.ts';
import { createListPolls } from '../../src/fleet/list-polls.ts';
import { LOOK } from '../../src/fleet/poll-scripts.ts';
import { createRedis, createRedisClock, listOf, type Redis } from '../../src/fleet/redis.ts';
import { encodeValue } from '../../src/fleet/values.ts';
import { type MarketSnapshot, prepareMarket } from '../../src/live/market/market-follower.ts';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { collect } from '../support/events.ts';
import { startReplica, untilAlone, untilConnected } from '../support/fleet.ts';
import { NEVER_MS, startSandbox } from '../support/gateway.ts';
import { freePort } from '../support/ports.ts';
import { hasRedis, type RedisServer } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { connectForTest, patiently, startRedisForTests } from './connected.ts';

/** A slow way to the market-data host: it holds back the responses of the host, until a test releases them. */
async function slowWayTo({ marketDataUrl }: SandboxHosts) {
  let held: (() => void)[] = [];
  let holds = false;
  const port = await freePort();
  const forward = async (path: string, response: ServerResponse) => {
    const { statusCode, headers, body } = await request(new URL(path.slice(1), marketDataUrl), { reset: true });
    const text = await body.text();
    if (holds) await new Promise<void>((resolve) => held.push(resolve));
    response.writeHead(statusCode, { 'content-type': String(headers['content-type']) }).end(text);
  };
  const server = createServer(({ url = '' }, response) => {
    // A request can be on its way when the sandbox ends.
    forward(url, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: new URL(`http://127.0.0.1:${port}/`),
    hold() {
      holds = true;
    },
    held: () => held.length,
    /** Sends the responses that are held back, and holds back none from now on. */
    release() {
      holds = false;
      for (const send of held) send();
      held = [];
    },
  };
}

/** Two replicas that poll a list only when a test says so, with a clock of Redis that the test can set. */
async function steppedReplicas(redis: RedisServer, prefix: string, idleMs = 20) {
  /** The first list was read a while ago: replies that come late make the time of a read uncertain. */
  const state = { stepMs: 0, name: 'old', agoMs: 10_000, dropped: 2 };
  const row = (name: string): Pair => ({
    ...{ pairId: name, poolId: name, tickerId: name },
    ...{ base: name, target: name, baseId: name, targetId: name, baseTokenId: name, targetTokenId: name },
  });

  async function read(previous?: MarketSnapshot<Pair>): Promise<MarketSnapshot<Pair>> {
    const at = performance.now() - state.agoMs;
    const isSame = previous?.market.rows[0]?.tickerId === state.name;
    const market = isSame ? previous.market : await prepareMarket([row(state.name)]);
    const observedAt = Date.now();
    return {
      market,
      observedAt,
      nextAt: observedAt + idleMs,
      dropped: state.dropped,
      read: { beganAt: at, endedAt: at },
    };
  }

  async function start() {
    const connection = createRedis({ urls: [redis.url], prefix });
    onTestFinished(() => connection.close());
    await until(connection.isAvailable);
    const run: Redis['run'] = async (script, keys, values) => {
      const reply = await connection.run(script, keys, values);
      if (script !== LOOK) return reply;
      const [time, ...others] = listOf(reply);
      return [Buffer.from(String(Number(String(time)) + state.stepMs)), ...others];
    };
    const outcomes: string[] = [];
    let isAlone = false;
    let isDown = false;
    const readUnlessDown: typeof read = (list) => (isDown ? Promise.reject(new Error('the host is down')) : read(list));
    const polls = createListPolls<Pair>(
      {
        redis: { ...connection, run },
        clock: createRedisClock(),
        members: { id: randomUUID(), takesPart: () => !isAlone, count: () => 2, joinChain: async () => {} },
        watcher: { ended: (_, outcome) => void outcomes.push(outcome), waited() {}, moved() {}, damaged() {} },
      },
      'tickers',
      Date.now,
    );
    let previous: MarketSnapshot<Pair> | undefined;
    return {
      /** How its polls went. */
      outcomes,
      /** @param pushed something that was pushed @returns the row of the list that the replica serves then */
      async poll(pushed?: string) {
        const remembered = previous ? [previous] : [];
        previous = await polls.poll({ previous, remembered, idleMs, pushed, read: readUnlessDown });
        return previous?.market.rows[0]?.tickerId;
      },
      setAlone(alone: boolean) {
        isAlone = alone;
      },
      setDown(down: boolean) {
        isDown = down;
      },
      served: () => previous,
      /** When the list was read, by `performance.now()`. */
      readAt: () => previous?.read.endedAt ?? 0,
    };
  }

  const [first, second] = [await start(), await start()];
  expect([await first.poll(), await second.poll()]).toEqual(['old', 'old']);
  return { state, first, second, start };
}

describe.skipIf(!hasRedis)('the lists of a fleet', () => {
  const redis = startRedisForTests();

  test('never go back at a replica that was alone, also if the other has read an older one that comes later', async () => {
    const sandbox = await startSandbox();
    onTestFinished(sandbox.close);
    const way = await slowWayTo(sandbox);
    const start = (marketDataUrl: URL) =>
      startReplica(redis, { prefix: 'lists', of: sandbox, config: { marketPollMs: 20, marketDataUrl } });
    const other = await start(way.url);
    const alone = await start(new URL(sandbox.marketDataUrl));

    const updates = alone.subscribe('subscription { tickers { lastPrice baseVolume } }');
    const received = collect(updates, ({ tickers }) => JSON.stringify(tickers));
    await until(() => received.length > 0);

    alone.link.cut();
    await untilAlone(alone);
    // The other replica has asked for pairs and tickers, and gets them later.
    way.hold();
    await until(() => way.held() >= 2);
    const before = received.length;
    sandbox.advance(3);
    await until(() => received.length > before);
    await other.untilHeight(sandbox.chain.tip.height);
    alone.link.restore();
    await untilConnected(alone);
    const whileAlone = received.length;
    way.release();
    sandbox.advance(3);
    await until(async () => {
      const { data } = await other.ask('{ tickers { lastPrice baseVolume } }');
      return JSON.stringify(data?.tickers) === received.at(-1) && received.length > whileAlone;
    });
    expect(received).toEqual([...new Set(received)]);
  });

  test.each([-60_000, 60_000])(
    'are received as they are published when the clock of Redis is set by %d ms',
    async (stepMs) => {
      // Two reads are farther apart than any reply of Redis is late.
      const { state, first, second, start } = await steppedReplicas(redis, `step${stepMs}`, 500);
      Object.assign(state, { stepMs, name: 'new', agoMs: 0 });
      await until(async () => (await first.poll()) === 'new');
      expect([await second.poll(), await first.poll()]).toEqual(['new', 'new']);
      state.name = 'newest';
      await until(async () => (await second.poll()) === 'newest');
      expect([await first.poll(), await second.poll()]).toEqual(['newest', 'newest']);
      expect(await (await start()).poll()).toBe('newest');
    },
  );

  test('are those that a replica has read alone, if the clock of Redis was set back meanwhile', async () => {
    const { state, first, second } = await steppedReplicas(redis, 'alone');
    first.setAlone(true);
    Object.assign(state, { stepMs: -60_000, name: 'new', agoMs: 0 });
    expect(await first.poll()).toBe('new');
    first.setAlone(false);
    expect([await first.poll(), await second.poll()]).toEqual(['new', 'new']);
  });

  test('that a replica has read alone replace older ones that another one has published meanwhile', async () => {
    const { state, first, second } = await steppedReplicas(redis, 'older', NEVER_MS);
    first.setAlone(true);
    Object.assign(state, { name: 'new', agoMs: 5_000 });
    await until(async () => {
      redis.cli('del', '{older}:tickers:slot');
      return (await second.poll()) === 'new';
    });
    Object.assign(state, { name: 'newest', agoMs: 0 });
    expect(await first.poll()).toBe('newest');
    first.setAlone(false);
    expect([await first.poll(), await second.poll()]).toEqual(['newest', 'newest']);
  });

  test('that a replica has read before its machine was suspended do not replace those that others have read since', async () => {
    const { state, first, second } = await steppedReplicas(redis, 'suspended', NEVER_MS);
    Object.assign(state, { name: 'new', agoMs: 5_000 });
    await until(async () => {
      redis.cli('del', '{suspended}:tickers:slot');
      return (await first.poll()) === 'new';
    });
    // The monotonic clock does not count the time in which the machine is suspended.
    const now = performance.now.bind(performance);
    const suspended = vi.spyOn(performance, 'now').mockImplementation(() => now() - 8_000);
    onTestFinished(() => suspended.mockRestore());
    expect(await second.poll()).toBe('new');
    suspended.mockRestore();
    expect(await first.poll()).toBe('new');
  });

  test('grow old while no replica can read them, also if the clock of Redis was set back', async () => {
    const { state, first } = await steppedReplicas(redis, 'down');
    state.stepMs = -60_000;
    first.setDown(true);
    let failures = 0;
    await until(async () => {
      await first.poll().catch(() => failures++);
      return failures === 2;
    });
  });

  test('are read again soon if the clock of Redis was set back, which keeps the slot occupied for longer', async () => {
    const { state, first } = await steppedReplicas(redis, 'slot');
    redis.cli('SET', '{slot}:tickers:slot', 'idle', 'PX', '3600000');
    state.name = 'new';
    await until(async () => (await first.poll()) === 'new');
  });

  test('are read once in an interval', async () => {
    const { first, second } = await steppedReplicas(redis, 'once', NEVER_MS);
    for (let polls = 0; polls < 5; polls++) for (const replica of [first, second]) await replica.poll();
    // A replica for which Redis was slow has read alone.
    expect([...first.outcomes, ...second.outcomes].filter((outcome) => outcome === 'read').length).toBeLessThan(2);
    for (const { served } of [first, second]) {
      const { dropped, nextAt = 0, observedAt = 0 } = served() ?? {};
      expect([dropped, nextAt - observedAt]).toEqual([2, expect.closeTo(NEVER_MS)]);
    }
  });

  test('are published also if only the number of rows that could not be read has changed', async () => {
    const { state, first, second } = await steppedReplicas(redis, 'dropped', NEVER_MS);
    Object.assign(state, { agoMs: 0, dropped: 3 });
    const droppedAtBoth = async () => {
      redis.cli('del', '{dropped}:tickers:slot');
      for (const replica of [first, second]) await replica.poll();
      return [first, second].map(({ served }) => served()?.dropped);
    };
    await expect.poll(droppedAtBoth).toEqual([3, 3]);
  });

  test('are read before the interval is over if something was pushed', async () => {
    const { state, first } = await steppedReplicas(redis, 'pushed', NEVER_MS);
    state.name = 'new';
    await expect.poll(() => first.poll('a block')).toBe('new');
  });

  test('that have not changed are as fresh as the last poll of any replica', async () => {
    const { first, second } = await steppedReplicas(redis, 'fresh', NEVER_MS);
    const pollBoth = async () => {
      redis.cli('del', '{fresh}:tickers:slot');
      const [before, { length }] = [second.readAt(), second.outcomes];
      for (const replica of [first, second]) await replica.poll();
      // If Redis was slow, the second one has read too.
      return second.readAt() > before && second.outcomes.length === length;
    };
    await expect.poll(pollBoth).toBe(true);
  });

  test('are read by other replicas after one could not read them', async () => {
    const { state, first, second } = await steppedReplicas(redis, 'failure', NEVER_MS);
    first.setDown(true);
    const pollFirst = () => first.poll().catch(() => 'a failure');
    const takeSlot = () => {
      redis.cli('del', '{failure}:tickers:slot');
      return pollFirst();
    };
    await expect.poll(takeSlot).toBe('a failure');
    // Nobody has the slot now: it is left to the other one.
    await expect.poll(pollFirst).toBe('old');
    state.name = 'new';
    await expect.poll(() => second.poll()).toBe('new');
  });

  test('of another version of the gateway are not published over in turn, but replaced by what is read next', async () => {
    const { first, second, start } = await steppedReplicas(redis, 'versions', NEVER_MS);
    const [values, version] = ['{versions}:tickers:values', '{versions}:tickers:version'];
    const connection = await connectForTest(redis);
    const pollBoth = async () => {
      redis.cli('del', values);
      await patiently(connection, () => connection.command(values, 'ZADD', values, '9e15', encodeValue(1)));
      redis.cli('set', version, 'another');
      for (const replica of [first, second, first]) await replica.poll();
      return redis.cli('get', version);
    };
    await expect.poll(pollBoth).toBe('another');

    const started = await start();
    redis.cli('del', '{versions}:tickers:slot');
    await expect.poll(() => started.poll()).toBe('old');
    expect(await (await start()).poll()).toBe('old');
  });
});
