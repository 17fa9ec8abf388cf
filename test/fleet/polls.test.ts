import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRedisClock } from '../../src/fleet/poll-options.ts';
import { createPolls } from '../../src/fleet/polls.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { connectPatiently, keptOutcomes } from './connected.ts';

/** A value, and those below it that came with it. */
type Value = { readonly height: number; readonly below?: readonly Value[] };

const KEPT = 8;

const IDLE_MS = 1;

/** The values of the newest heights up to one. */
const upTo = (newest: number): readonly Value[] =>
  Array.from({ length: KEPT }, (_, n) => ({ height: newest - KEPT + 1 + n }));

describe.skipIf(!hasRedis)('polls', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.close());

  /**
   * A replica that serves what was polled. It polls only when a test says so, and can never read its upstream.
   *
   * @param most more values than these in one command take too long
   */
  async function replicaWith(initial: readonly Value[], most = KEPT) {
    const connection = await connectPatiently(server);
    let remembered = initial;
    const sent: number[] = [];
    const run: typeof connection.run = async (script, keys, args) => {
      const values = args.filter((arg) => Buffer.isBuffer(arg));
      if (values.length > 0) sent.push(values.length);
      if (values.length > most) throw new Error('no reply within 500 ms');
      return connection.run(script, keys, args);
    };
    const polls = createPolls<Value>(
      {
        redis: { ...connection, run },
        clock: createRedisClock(),
        members: { takesPart: () => true, count: () => 3, joinChain: async () => {} },
        watcher: keptOutcomes(),
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
      },
    );
    const newest = () => remembered.at(-1)?.height;
    const read = () => Promise.reject(new Error('the upstream cannot be read'));
    const tryPoll = () => polls.poll({ previous: remembered.at(-1), remembered, idleMs: IDLE_MS, read });
    return {
      newest,
      heights: () => remembered.map(({ height }) => height),
      tryPoll,
      async poll() {
        const previous = remembered.at(-1);
        const polled = await tryPoll().catch(() => previous);
        if (polled && polled !== previous) remembered = [...remembered, ...(polled.below ?? []), polled];
        return newest();
      },
      /** The number of values in each command that had some. */
      sent,
    };
  }

  const stored = () =>
    server.cli('zrange', '{test}:head:values', '0', '-1', 'withscores').match(/^\d+$/gm)?.map(Number);

  test('values that Redis does not have are sent in one command, and another replica receives all of them', async () => {
    server.flush();
    const [first, started] = [await replicaWith(upTo(100)), await replicaWith([])];
    await first.poll();
    expect(first.sent).toEqual([KEPT]);
    await started.poll();
    expect(started.heights()).toEqual(upTo(100).map(({ height }) => height));
  });

  test('only the newest of them is sent after all were too many for one command', async () => {
    server.flush();
    const [first, second] = [await replicaWith(upTo(100), 3), await replicaWith(upTo(99))];
    await first.poll();
    expect(stored()).toBeUndefined();
    await first.poll();
    expect(first.sent).toEqual([KEPT, 1]);
    expect(stored()).toEqual([100]);
    expect(await second.poll()).toBe(100);
    expect(second.sent).toEqual([]);
  });

  test('a replica that has failed before does not fail while another one, which has polled since, is reading', async () => {
    server.flush();
    const failed = await replicaWith([]);
    await expect(failed.tryPoll()).rejects.toThrow('the upstream cannot be read');
    await (await replicaWith(upTo(100))).poll();
    expect(await failed.poll()).toBe(100);
    // The read takes longer than three intervals.
    server.cli('set', '{test}:head:slot', 'other');
    for (const end = performance.now() + 20 * IDLE_MS; performance.now() < end; ) await failed.tryPoll();
  });
});
