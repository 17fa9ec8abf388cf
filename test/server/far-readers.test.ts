import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { canMakeNetworks, makeNetwork, type Network } from '../support/network.ts';
import type { ReadingDoor } from '../support/readers.ts';
import type { Word } from '../support/readers-process.ts';

const START = new URL('../../src/start.js', import.meta.url);
const READERS = new URL('../support/readers-process.ts', import.meta.url);

/** About 10 KB an update: 54 pools. */
const PRICES = 'subscription { prices { beaconHeight poolPairs { id price } } }';

/** So little that the system's buffers hold hundreds. */
const HEIGHTS = 'subscription { prices { beaconHeight } }';

const COUNT = 1_000;
const GOOD = 5;
const BLOCK_MS = 1_000;

/** Time enough for a busy machine to tell all of them of a height before the next comes. */
const SLOW_BLOCKS = { 'sandbox-block-ms': 1_500 };

/** What a loaded machine may take beyond the time that is promised. */
const SLACK_MS = 2_500;

const isPossible = canMakeNetworks();

// On a machine that cannot make networks this says that it was skipped; CI can, and there a skip is a failure.
test.runIf(process.env['CI'])('CI can make networks', () => expect(isPossible).toBe(true));

/** A gateway, good readers near it, which also look up its metrics, and a thousand far away. */
async function start(network: Network, door: ReadingDoor, query: string, settings: Readonly<Record<string, number>>) {
  const flags = Object.entries({ port: 4_000, 'sandbox-block-ms': BLOCK_MS, 'head-poll-ms': 50, ...settings });
  const args = ['--host', network.address, ...flags.flatMap(([flag, value]) => [`--${flag}`, String(value)])];
  const gateway = network.start('near', START, args);
  for await (const line of gateway.stdout ?? []) if (String(line).includes('"serving"')) break;

  const url = `http://${network.address}:4000/graphql`;
  const good = network.start('near', READERS, [url, door, String(GOOD), query]);
  await once(good, 'message');
  const memoryBefore = await figure(good, 'process_resident_memory_bytes');
  const far = network.start('far', READERS, [url, door, String(COUNT), query]);
  await once(far, 'message');
  expect(await figure(good, 'pdex_subscriptions{source="head"}')).toBe(COUNT + GOOD);
  return { good, far, memoryBefore };
}

async function ask<Answer>(readers: ChildProcess, word: Word): Promise<Answer> {
  readers.send(word);
  const [answer] = await once(readers, 'message');
  return answer;
}

async function figure(good: ChildProcess, name: string): Promise<number> {
  const text = await ask<string>(good, 'metrics');
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  );
}

/** @returns how long it took until only the good readers were left, in milliseconds */
async function untilAlone(good: ChildProcess): Promise<number> {
  const from = performance.now();
  const left = () => figure(good, 'pdex_subscriptions{source="head"}');
  await expect.poll(left, { timeout: 60_000, interval: 100 }).toBe(GOOD);
  return performance.now() - from;
}

/** Every height, one after another, without a gap. */
async function expectUndisturbed(good: ChildProcess): Promise<void> {
  const all = await ask<number[][]>(good, 'heights');
  for (const heights of all) {
    const first = heights[0] ?? 0;
    expect(heights).toEqual(heights.map((_, n) => first + n));
    expect(heights.length).toBeGreaterThan(2);
  }
}

const skips = (good: ChildProcess) => figure(good, 'pdex_updates_skipped_total{source="head"}');

describe.skipIf(!isPossible)('a thousand readers whose network breaks, so that no FIN ever comes', () => {
  test('websockets are gone within two ping periods', async () => {
    const network = makeNetwork();
    const { good } = await start(network, 'websocket', PRICES, { ...SLOW_BLOCKS, 'keep-alive-ms': 2_000 });
    network.cut();
    expect(await untilAlone(good)).toBeLessThan(4_000 + SLACK_MS);
    expect(await figure(good, 'pdex_websockets')).toBe(GOOD);
    await expectUndisturbed(good);
  }, 120_000);

  test('event streams are gone soon after their buffers are full, long before the system would give them up', async () => {
    const network = makeNetwork();
    const { good } = await start(network, 'events', PRICES, { 'keep-alive-ms': 2_000 });
    network.cut();
    // Two periods after each is full, and they do not fill at once; the system would try for a quarter of an hour.
    expect(await untilAlone(good)).toBeLessThan(30_000);
    await expectUndisturbed(good);
  }, 120_000);

  test('event streams that say so little that no buffer fills are gone when the system gives them up', async () => {
    const network = makeNetwork();
    network.setRetries(3);
    const { good } = await start(network, 'events', HEIGHTS, { 'keep-alive-ms': 60_000 });
    network.cut();
    // Sent again after 0.2 s, and each time after twice as long: given up at the first of these that is 3 s or later.
    expect(await untilAlone(good)).toBeLessThan(6_200 + BLOCK_MS + SLACK_MS);
    await expectUndisturbed(good);
  }, 120_000);
});

describe.skipIf(!isPossible)('a thousand readers that stop reading', () => {
  test.each<ReadingDoor>(['websocket', 'events'])(
    'cost a bounded piece of memory each: %s',
    async (door) => {
      const network = makeNetwork();
      const { good, far, memoryBefore } = await start(network, door, PRICES, {
        ...SLOW_BLOCKS,
        'keep-alive-ms': 60_000,
      });
      far.send('pause' satisfies Word);
      await expect.poll(() => skips(good), { timeout: 90_000, interval: 250 }).toBeGreaterThanOrEqual(COUNT);
      const bytes = (await figure(good, 'process_resident_memory_bytes')) - memoryBefore;
      // With what the process has not collected yet: they hold a tenth of that.
      expect(bytes / COUNT).toBeLessThan(600_000);
      await expectUndisturbed(good);
    },
    120_000,
  );
});
