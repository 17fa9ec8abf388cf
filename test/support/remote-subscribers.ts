import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import type { Network } from './network.ts';
import { buildCommand } from './package-build.ts';
import type { SubscriptionTransport } from './subscribers.ts';
import type { Command } from './subscribers-process.ts';

const CHAIN = new URL('./chain-process.ts', import.meta.url);
const SUBSCRIBERS = new URL('./subscribers-process.ts', import.meta.url);

/** About 75 KB an update, 54 pools twice: the buffers between the two machines are full after a few. */
export const PRICES = `subscription { prices { beaconHeight a: poolPairs { ...P } b: poolPairs { ...P } } }
  fragment P on PoolPair {
    id key price exactPrice inversePrice spotPrice token1PoolValue token2PoolValue token1 { id symbol } token2 { id symbol }
  }`;

/** So little that the system's buffers hold hundreds. */
export const HEIGHTS = 'subscription { prices { beaconHeight } }';

/** Subscribers on the remote machine: by default, enough of them for a mean, and a few. */
export const [REMOTE_COUNT, SOME_REMOTE, FEW_REMOTE] = [1_000, 400, 20];

/** Subscribers on the machine of the gateway, which must miss nothing. */
export const LOCAL_COUNT = 6;

/** How much longer than promised a busy machine may take. The operating system alone would try for a quarter of an hour. */
export const SLACK_MS = 45_000;

/** A gateway with subscribers on its own machine and on another one. */
export type RemoteSubscribers = {
  /** The process of the local subscribers, which also reads the metrics of the gateway. */
  readonly local: ChildProcess;
  readonly remote: ChildProcess;
  /** The resident memory of the gateway before the remote subscribers came. */
  readonly memoryBefore: number;
  /** Creates a block, and waits until each local subscriber has its height. */
  advance(): Promise<void>;
};

/**
 * Starts a gateway, remote subscribers, a thousand by default, and a few local ones. The same number of each uses each
 * transport.
 */
export async function startRemoteSubscribers(
  network: Network,
  transports: readonly SubscriptionTransport[],
  query: string,
  settings: Readonly<Record<string, number>>,
  remoteCount = REMOTE_COUNT,
): Promise<RemoteSubscribers> {
  const chain = network.start('near', CHAIN, []);
  const [upstreams] = await once(chain, 'message');
  const { fullnodeUrl, marketDataUrl } = upstreams;
  const flags = Object.entries({ port: 4_000, 'head-poll-ms': 50, ...settings });
  const args = ['--host', network.address, '--fullnode-url', fullnodeUrl, '--market-data-url', marketDataUrl];
  args.push(...flags.flatMap(([flag, value]) => [`--${flag}`, String(value)]));
  const gateway = network.start('near', pathToFileURL(await buildCommand()), args);
  for await (const line of gateway.stdout ?? []) if (String(line).includes('"serving"')) break;

  const url = `http://${network.address}:4000/graphql`;
  const local = network.start('near', SUBSCRIBERS, [url, String(LOCAL_COUNT), query, ...transports]);
  await once(local, 'message');
  const memoryBefore = await figure(local, 'process_resident_memory_bytes');
  const remote = network.start('far', SUBSCRIBERS, [url, String(remoteCount), query, ...transports]);
  await once(remote, 'message');
  expect(await subscriptions(local)).toBe(remoteCount + LOCAL_COUNT);

  async function advance(): Promise<void> {
    chain.send('advance');
    const [height] = await once(chain, 'message');
    const newest = async () => (await ask<number[][]>(local, 'heights')).map((heights) => heights.at(-1));
    await expect.poll(newest, { interval: 50 }).toEqual(Array(LOCAL_COUNT).fill(height));
  }
  return { local, remote, memoryBefore, advance };
}

/** The value of a metric of the gateway. */
export async function figure(local: ChildProcess, name: string): Promise<number> {
  const lines = (await ask<string>(local, 'metrics')).split('\n');
  return Number(lines.find((line) => line.startsWith(`${name} `))?.split(' ')[1]);
}

/** Creates blocks until only the local subscribers are left. @returns how long it took, in milliseconds */
export function untilRemoteGone({ local, advance }: RemoteSubscribers): Promise<number> {
  return untilLeft(() => subscriptions(local), LOCAL_COUNT, advance);
}

/** The same for websockets. */
export function untilRemoteWebSocketsGone({ local, advance }: RemoteSubscribers, localCount: number): Promise<number> {
  return untilLeft(() => figure(local, 'pdex_websockets'), localCount, advance);
}

async function untilLeft(count: () => Promise<number>, left: number, advance: () => Promise<void>): Promise<number> {
  const from = performance.now();
  while ((await count()) !== left) await advance();
  return performance.now() - from;
}

/** Expects that each local subscriber got every height, one after another, without a gap. */
export async function expectUndisturbed(local: ChildProcess): Promise<void> {
  const all = await ask<number[][]>(local, 'heights');
  for (const heights of all) {
    const first = heights[0] ?? 0;
    expect(heights).toEqual(heights.map((_, n) => first + n));
    // On a busy machine, all others can be gone after the first block.
    expect(heights.length).toBeGreaterThan(1);
  }
}

const subscriptions = (local: ChildProcess) => figure(local, 'pdex_subscriptions{source="head"}');

async function ask<Answer>(subscribers: ChildProcess, command: Command): Promise<Answer> {
  subscribers.send(command);
  const [answer] = await once(subscribers, 'message');
  return answer;
}
