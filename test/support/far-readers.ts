import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';
import type { Network } from './network.ts';
import type { ReadingDoor } from './readers.ts';
import type { Word } from './readers-process.ts';

const START = new URL('../../src/start.js', import.meta.url);
const READERS = new URL('./readers-process.ts', import.meta.url);

/** About 75 KB an update, 54 pools twice: the buffers between the two machines are full after a few. */
export const PRICES = `subscription { prices { beaconHeight a: poolPairs { ...P } b: poolPairs { ...P } } }
  fragment P on PoolPair {
    id key price exactPrice inversePrice spotPrice token1PoolValue token2PoolValue token1 { id symbol } token2 { id symbol }
  }`;

/** So little that the system's buffers hold hundreds. */
export const HEIGHTS = 'subscription { prices { beaconHeight } }';

/** Readers on the far machine. */
export const COUNT = 1_000;

/** Readers on the machine of the gateway, which must not notice anything. */
export const GOOD = 5;

export const BLOCK_MS = 1_000;

/** Time enough for a busy machine to send all of them a height before the next comes. */
export const SLOW_BLOCKS = { 'sandbox-block-ms': 1_500 };

/** What a loaded machine may take beyond the time that is promised. */
export const SLACK_MS = 2_500;

/** Starts a gateway, good readers near it, which also read its metrics, and a thousand readers far away. */
export async function startFarReaders(
  network: Network,
  door: ReadingDoor,
  query: string,
  settings: Readonly<Record<string, number>>,
) {
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
  expect(await subscriptions(good)).toBe(COUNT + GOOD);
  return { good, far, memoryBefore };
}

/** The value of a metric of the gateway. */
export async function figure(good: ChildProcess, name: string): Promise<number> {
  const lines = (await ask<string>(good, 'metrics')).split('\n');
  return Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
}

/** @returns how long it took until only the good readers were left, in milliseconds */
export async function untilAlone(good: ChildProcess): Promise<number> {
  const from = performance.now();
  await expect.poll(() => subscriptions(good), { timeout: 60_000, interval: 100 }).toBe(GOOD);
  return performance.now() - from;
}

/** Each good reader received every height, one after another, without a gap. */
export async function expectUndisturbed(good: ChildProcess): Promise<void> {
  const all = await ask<number[][]>(good, 'heights');
  for (const heights of all) {
    const first = heights[0] ?? 0;
    expect(heights).toEqual(heights.map((_, n) => first + n));
    expect(heights.length).toBeGreaterThan(2);
  }
}

const subscriptions = (good: ChildProcess) => figure(good, 'pdex_subscriptions{source="head"}');

async function ask<Answer>(readers: ChildProcess, word: Word): Promise<Answer> {
  readers.send(word);
  const [answer] = await once(readers, 'message');
  return answer;
}
