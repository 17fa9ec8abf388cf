import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createPolls } from '../../src/fleet/polls.ts';
import { createRedisClock } from '../../src/fleet/redis.ts';
import { NEVER_MS } from '../support/gateway.ts';
import { hasRedis } from '../support/redis.ts';
import { connectPatiently, keptOutcomes, startRedisForTests } from './connected.ts';

/** A value, and those below it that came with it. */
type Value = { readonly height: number; readonly below?: readonly Value[] };

const KEPT = 8;

const IDLE_MS = 1;

type ReplicaOptions = {
  readonly most?: number;
  readonly idleMs?: number;
  readonly count?: number;
  readonly takesPart?: boolean;
  readonly read?: (previous: Value | undefined) => Promise<Value>;
  readonly isBehind?: () => boolean;
};

const SLOT = '{test}:head:slot';

const unreadable = () => Promise.reject(new Error('the upstream cannot be read'));

/** The values of the newest heights up to one. */
const upTo = (newest: number): readonly Value[] =>
  Array.from({ length: KEPT }, (_, n) => ({ height: newest - KEPT + 1 + n }));

describe.skipIf(!hasRedis)('polls', () => {
  const server = startRedisForTests();
  beforeEach(() => server.flush());

  /**
   * A replica that serves what was polled. It polls only when a test says so, and by default cannot read its upstream.
   *
   * @param most more values than these in one command take too long
   */
  async function replicaWith(
    initial: readonly Value[],
    { most = KEPT, idleMs = IDLE_MS, count = 3, takesPart = true, read = unreadable, isBehind }: ReplicaOptions = {},
  ) {
    const connection = await connectPatiently(server);
    const watcher = keptOutcomes();
    let remembered = initial;
    let limit = most;
    let reads = 0;
    let looks = 0;
    const sent: number[] = [];
    const command: typeof connection.command = (...terms) => {
      looks += 1;
      return connection.command(...terms);
    };
    const run: typeof connection.run = async (script, keys, args) => {
      const values = args.filter((arg) => Buffer.isBuffer(arg));
      if (values.length > 0) sent.push(values.length);
      if (values.length > limit) throw new Error('no reply within 500 ms');
      return connection.run(script, keys, args);
    };
    const polls = createPolls<Value>(
      {
        redis: { ...connection, command, run },
        clock: createRedisClock(),
        members: { id: randomUUID(), takesPart: () => takesPart, count: () => count, joinChain: async () => {} },
        watcher,
      },
      {
        name: 'head',
        keyPrefix: 'head',
        keep: KEPT,
        rankOf: ({ height }) => height,
        all: (value, previous) => (value === previous ? [] : [...(value.below ?? []), value]),
        pack: async ({ height }) => ({ height }),
        async unpack(values, previous) {
          const newer = (values as readonly Value[]).filter(({ height }) => height > (previous?.height ?? 0));
          const newest = newer.at(-1);
          return newest && { ...newest, below: newer.slice(0, -1) };
        },
        polledAgain: (value) => value,
        ...(isBehind && { isBehind }),
      },
    );
    const newest = () => remembered.at(-1)?.height;
    const readOnce = (previous: Value | undefined) => {
      reads += 1;
      return read(previous);
    };
    const tryPoll = (pushed?: string) =>
      polls.poll({ previous: remembered.at(-1), remembered, idleMs, pushed, read: readOnce });
    async function poll(pushed?: string) {
      const previous = remembered.at(-1);
      const polled = await tryPoll(pushed).catch(() => previous);
      if (polled && polled !== previous) remembered = [...remembered, ...(polled.below ?? []), polled];
      return newest();
    }
    return {
      ...polls,
      damages: watcher.damages,
      newest,
      heights: () => remembered.map(({ height }) => height),
      tryPoll,
      poll,
      /** How often it has read its upstream, and sent a command that is no script. */
      reads: () => reads,
      looks: () => looks,
      allow(values: number) {
        limit = values;
      },
      /** The number of values in each command that had some. */
      sent,
    };
  }

  /** Fakes the clock of the gateways. */
  function stopClock(): void {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
  }

  const stored = () =>
    server.cli('zrange', '{test}:head:values', '0', '-1', 'withscores').match(/^\d+$/gm)?.map(Number);

  test('values that Redis does not have are sent in one command, and another replica receives all of them', async () => {
    const [first, started] = [await replicaWith(upTo(100)), await replicaWith([])];
    await first.poll();
    expect(first.sent).toEqual([KEPT]);
    await started.poll();
    expect(started.heights()).toEqual(upTo(100).map(({ height }) => height));
  });

  test('only the newest of them is sent after all were too many for one command', async () => {
    const [first, second] = [await replicaWith(upTo(100), { most: 3 }), await replicaWith(upTo(99))];
    await first.poll();
    expect(stored()).toBeUndefined();
    await first.poll();
    expect(first.sent).toEqual([KEPT, 1]);
    expect(stored()).toEqual([100]);
    expect(await second.poll()).toBe(100);
    expect(second.sent).toEqual([]);
    // All are sent again after a command that has succeeded.
    first.allow(KEPT);
    server.flush();
    await first.poll();
    expect(first.sent).toEqual([KEPT, 1, KEPT]);
  });

  test('what a replica has read is served also if it cannot be published', async () => {
    const replica = await replicaWith([], { most: 0, read: async () => ({ height: 5 }) });
    expect(await replica.poll()).toBe(5);
    expect(stored()).toBeUndefined();
  });

  test('what another replica has published during a read is served, and not what was read', async () => {
    const other = await replicaWith(upTo(100));
    const slow = await replicaWith([], {
      async read() {
        await other.poll();
        return { height: 99 };
      },
    });
    expect(await slow.poll()).toBe(100);
    expect(stored()?.at(-1)).toBe(100);
    // Nobody waits until its slot expires.
    expect(server.cli('exists', SLOT)).toBe('0');
  });

  test('a replica polls again at once when another one has published during its poll, and only then', async () => {
    const [first, second] = [await replicaWith([]), await replicaWith(upTo(100))];
    await second.poll();
    await expect.poll(() => first.intervalMs(1_000)).toBe(0);
    await first.poll();
    expect(first.intervalMs(1_000)).toBeGreaterThanOrEqual(1_000);
  });

  test('each call of `untilCurrent` waits for what was published before', async () => {
    // No call is over because a busy machine takes two seconds.
    stopClock();
    const [first, second] = [await replicaWith([]), await replicaWith(upTo(100))];
    first.onPublished(() => {
      first.poll();
      return true;
    });
    await first.untilCurrent();
    await second.poll();
    await first.untilCurrent();
    expect(first.newest()).toBe(100);
  });

  test('a moment by the clock of Redis is never in the future', () => {
    stopClock();
    const clock = createRedisClock();
    clock.observe(5_000);
    const now = performance.now();
    expect([4_000, 6_000].map(clock.toLocal)).toEqual([now - 1_000, now]);
  });

  test('`untilCurrent` does not wait for a Redis that cannot be used', async () => {
    const alone = await replicaWith([], { takesPart: false });
    await alone.untilCurrent();
    expect(alone.looks()).toBe(0);
  });

  /** The slot is free now, whoever has it. */
  const freeSlot = () => server.cli('del', SLOT);

  test.each([
    ['for 15 seconds', { idleMs: 10_000 }, 15_000],
    ['until nobody has polled for three intervals', { idleMs: 4_000 }, 12_000],
    ['only if there are others', { idleMs: 10_000, count: 1 }, 0],
  ])('a replica that could not read leaves the reads to the others %s', async (_, options, ms) => {
    stopClock();
    let fails = true;
    const read = async (previous?: Value) => (fails ? unreadable() : (previous ?? { height: 1 }));
    const [other, failed] = [await replicaWith(upTo(100), options), await replicaWith([], { ...options, read })];
    await other.poll();
    await failed.poll();
    const readsAfter = async (afterMs: number) => {
      vi.advanceTimersByTime(afterMs);
      freeSlot();
      await failed.poll();
      return failed.reads();
    };
    expect(await readsAfter(0)).toBe(1);
    if (ms > 0) expect(await readsAfter(1_000)).toBe(1);
    fails = false;
    expect(await readsAfter(ms)).toBe(2);
    for (const reads of [3, 4]) expect(await readsAfter(0)).toBe(reads);
  });

  test('a value that is damaged is counted, and does not hide another one', async () => {
    const [other, started] = [await replicaWith(upTo(100)), await replicaWith([])];
    await other.poll();
    server.cli('zadd', '{test}:head:values', '101', 'damaged');
    expect(await started.poll()).toBe(100);
    expect(started.damages).toEqual(['head']);
  });

  test('a replica that is behind leaves the reads to the others for 15 seconds, or until its node pushes a block', async () => {
    stopClock();
    const options = {
      idleMs: NEVER_MS,
      read: async (previous?: Value) => previous ?? { height: 1 },
      isBehind: () => true,
    };
    const [other, behind] = [await replicaWith(upTo(100), options), await replicaWith([], options)];
    await other.poll();
    await behind.poll();
    freeSlot();
    await behind.poll();
    expect(behind.reads()).toBe(1);
    // Another one can read within the same interval.
    await expect.poll(() => server.cli('exists', SLOT)).toBe('0');
    await behind.poll();
    expect(behind.reads()).toBe(1);
    await behind.poll('a block');
    expect(behind.reads()).toBe(2);
    freeSlot();
    vi.advanceTimersByTime(15_001);
    await behind.poll();
    expect(behind.reads()).toBe(3);
  });

  test('a block that nodes have pushed to two replicas is read by one of them', async () => {
    const options = { idleMs: NEVER_MS, read: async (previous?: Value) => previous ?? { height: 1 } };
    const both = [await replicaWith(upTo(100), options), await replicaWith([], options)];
    for (const replica of both) await replica.poll();
    let blocks = 0;
    const readsOfNext = async () => {
      blocks += 1;
      const before = both.map((replica) => replica.reads());
      for (const replica of both) await replica.poll(`block ${blocks}`);
      return both.map((replica, n) => replica.reads() - (before[n] ?? 0));
    };
    // The second may read it after a second, such as on a busy machine.
    await expect.poll(readsOfNext).toEqual([1, 0]);
  });

  test('a replica that has failed before does not fail while another one, which has polled since, is reading', async () => {
    const failed = await replicaWith([]);
    await expect(failed.tryPoll()).rejects.toThrow('the upstream cannot be read');
    await (await replicaWith(upTo(100))).poll();
    expect(await failed.poll()).toBe(100);
    // The read takes longer than three intervals.
    server.cli('set', SLOT, 'other');
    for (const end = performance.now() + 20 * IDLE_MS; performance.now() < end; ) await failed.tryPoll();
  });
});
