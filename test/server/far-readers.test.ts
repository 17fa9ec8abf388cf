import { describe, expect, test } from 'vitest';
import {
  BLOCK_MS,
  expectUndisturbed,
  figure,
  GOOD,
  HEIGHTS,
  PRICES,
  SLACK_MS,
  SLOW_BLOCKS,
  startFarReaders,
  untilAlone,
} from '../support/far-readers.ts';
import { canMakeNetworks, makeNetwork } from '../support/network.ts';

const isPossible = canMakeNetworks();

// On a machine that cannot make networks this says that it was skipped; CI can, and there a skip is a failure.
test.runIf(process.env['CI'])('CI can make networks', () => expect(isPossible).toBe(true));

describe.skipIf(!isPossible)('a thousand readers whose network breaks, so that no FIN ever comes', () => {
  test('websockets are gone within two ping periods', async () => {
    const network = makeNetwork();
    const { good } = await startFarReaders(network, 'websocket', PRICES, { ...SLOW_BLOCKS, 'keep-alive-ms': 2_000 });
    network.cut();
    expect(await untilAlone(good)).toBeLessThan(4_000 + SLACK_MS);
    expect(await figure(good, 'pdex_websockets')).toBe(GOOD);
    await expectUndisturbed(good);
  }, 120_000);

  test('event streams are gone soon after their buffers are full, long before the system would give them up', async () => {
    const network = makeNetwork();
    const { good } = await startFarReaders(network, 'events', PRICES, { ...SLOW_BLOCKS, 'keep-alive-ms': 2_000 });
    network.cut();
    // Two periods after each is full, and they do not fill at once; the system would try for a quarter of an hour.
    expect(await untilAlone(good)).toBeLessThan(30_000);
    await expectUndisturbed(good);
  }, 120_000);

  test('event streams that say so little that no buffer fills are gone when the system gives them up', async () => {
    const network = makeNetwork();
    network.setRetries(2);
    const { good } = await startFarReaders(network, 'events', HEIGHTS, { 'keep-alive-ms': 60_000 });
    network.cut();
    // Sent again after 0.2 s, and each time after twice as long: given up at the first of these that is 1.4 s or later.
    expect(await untilAlone(good)).toBeLessThan(3_000 + BLOCK_MS + SLACK_MS);
    await expectUndisturbed(good);
  }, 120_000);
});
