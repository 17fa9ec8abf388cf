import { once } from 'node:events';
import { expect, test } from 'vitest';
import { NEVER_MS, startGatewayForTest, type TestGateway } from '../support/gateway.ts';
import { readSample } from '../support/metrics.ts';
import { openSubscribers, type RawSubscriber } from '../support/subscribers.ts';
import { until } from '../support/until.ts';

const PERIOD_MS = 2_000;

/** How much longer than two periods a busy machine may take. A connection that is not closed by pings stays for ever. */
const SLACK_MS = 100_000;

/** Nothing here is about polls, which would cost more than the subscribers. */
const POLLS = { headPollMs: 200, marketPollMs: NEVER_MS };

const PRICES = 'subscription { prices { beaconHeight poolPairs { id price } } }';

/** About 1 MB an update, so that the buffers between gateway and subscriber are soon full. */
const LARGE = `subscription { prices { beaconHeight poolPairs {
  id key price exactPrice inversePrice spotPrice token1PoolValue token2PoolValue token1 { id } token2 { id }
} } }`;

/** Makes a block and waits until a good subscriber has it. */
async function advance({ sandbox }: TestGateway, reader: RawSubscriber | undefined): Promise<void> {
  sandbox.advance();
  await until(() => reader?.heights.at(-1) === sandbox.chain.tip.height);
}

/** Makes some blocks, and one more when only the good subscribers are left. @returns how long that took, in milliseconds */
async function untilAlone(gateway: TestGateway, good: readonly RawSubscriber[]): Promise<number> {
  const start = performance.now();
  for (let blocks = 0; blocks < 3; blocks++) await advance(gateway, good[0]);
  await until(() => gateway.app.service.sources.head.subscribers() <= good.length);
  const tookMs = performance.now() - start;
  await advance(gateway, good[0]);
  return tookMs;
}

/** Waits until each of these subscribers has the newest height. */
async function expectEveryHeight(readers: readonly RawSubscriber[], from: number, to: number): Promise<void> {
  await expect.poll(() => readers.every(({ heights }) => heights.at(-1) === to)).toBe(true);
  const all = Array.from({ length: to - from + 1 }, (_, n) => from + n);
  for (const { heights } of readers) expect(heights).toEqual(all);
}

test('of a thousand websockets, those that stop reading, half-close or answer no pings are closed within two ping periods, and others miss nothing', async () => {
  const gateway = await startGatewayForTest({
    config: { ...POLLS, keepAliveMs: PERIOD_MS },
    sandbox: { history: 5 },
  });
  const { chain } = gateway.sandbox;
  const from = chain.tip.height;
  const url = await gateway.app.listen(0, '127.0.0.1');
  const bad = await openSubscribers(url, 'websocket', 1_000, PRICES);
  const good = [
    ...(await openSubscribers(url, 'websocket', 5, PRICES)),
    ...(await openSubscribers(url, 'events', 5, PRICES)),
  ];
  expect(await readSample(url, 'pdex_websockets')).toBe(1_005);

  for (const [n, reader] of bad.entries())
    reader.misbehave((['pause', 'halfClose', 'neverPong'] as const)[n % 3] ?? 'pause');
  expect(await untilAlone(gateway, good)).toBeLessThan(2 * PERIOD_MS + SLACK_MS);
  expect(await readSample(url, 'pdex_websockets')).toBe(5);
  expect(await readSample(url, 'pdex_subscriptions{source="head"}')).toBe(10);
  await expectEveryHeight(good, from, chain.tip.height);
  for (const { socket } of [...bad, ...good]) socket.destroy();
});

test('event streams that half-close are ended at once', async () => {
  const gateway = await startGatewayForTest({ config: { ...POLLS, keepAliveMs: 60_000 }, sandbox: { history: 5 } });
  const url = await gateway.app.listen(0, '127.0.0.1');
  const readers = await openSubscribers(url, 'events', 100, PRICES);
  expect(gateway.app.service.sources.head.subscribers()).toBe(100);
  const ends = readers.map(({ socket }) => once(socket, 'close'));
  for (const reader of readers) reader.misbehave('halfClose');
  await Promise.all(ends);
  await expect.poll(gateway.app.service.sources.head.subscribers).toBe(0);
});

test('an event stream that is not read is ended within two periods after its buffers are full; skipped updates are counted, and others miss nothing', async () => {
  // A reader skips an update only if a block is made after its buffers are full and before it is disconnected.
  const keepAliveMs = 5 * PERIOD_MS;
  const gateway = await startGatewayForTest({
    config: { ...POLLS, keepAliveMs },
    sandbox: { pools: 900, sharesPerPool: 1, history: 5 },
  });
  const { chain } = gateway.sandbox;
  const from = chain.tip.height;
  const url = await gateway.app.listen(0, '127.0.0.1');
  const bad = await openSubscribers(url, 'events', 4, LARGE);
  const good = await openSubscribers(url, 'events', 1, PRICES);
  for (const reader of bad) reader.misbehave('pause');
  for (let skipped = 0; skipped === 0; ) {
    expect(gateway.app.service.sources.head.subscribers()).toBeGreaterThan(good.length);
    await advance(gateway, good[0]);
    skipped = (await readSample(url, 'pdex_updates_skipped_total{source="head"}')) ?? 0;
  }
  expect(await untilAlone(gateway, good)).toBeLessThan(2 * keepAliveMs + SLACK_MS);
  await expectEveryHeight(good, from, chain.tip.height);
  for (const { socket } of [...bad, ...good]) socket.destroy();
});
