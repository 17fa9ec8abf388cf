import { describe, expect, test } from 'vitest';
import { canMakeNetworks, makeNetwork } from '../support/network.ts';
import {
  BLOCK_MS,
  expectUndisturbed,
  figure,
  HEIGHTS,
  LOCAL_COUNT,
  PRICES,
  REMOTE_COUNT,
  SLACK_MS,
  SLOW_BLOCKS,
  startRemoteSubscribers,
  untilRemoteGone,
  untilRemoteWebSocketsGone,
} from '../support/remote-subscribers.ts';
import type { SubscriptionTransport } from '../support/subscribers.ts';
import type { Command } from '../support/subscribers-process.ts';

const isPossible = canMakeNetworks();

// On a machine that cannot make networks this says that it was skipped; CI can, and there a skip is a failure.
test.runIf(process.env['CI'])('CI can make networks', () => expect(isPossible).toBe(true));

describe.skipIf(!isPossible)('a thousand subscribers whose network breaks, so that no FIN arrives', () => {
  test('websockets are closed within two ping periods, event streams soon after their buffers are full', async () => {
    const network = makeNetwork();
    const { local } = await startRemoteSubscribers(network, ['websocket', 'events'], PRICES, {
      ...SLOW_BLOCKS,
      'keep-alive-ms': 2_000,
    });
    network.cut();
    const webSocketsMs = await untilRemoteWebSocketsGone(local, LOCAL_COUNT / 2);
    expect(webSocketsMs).toBeLessThan(4_000 + SLACK_MS);
    // Two periods after its buffer is full. The buffers do not fill at once. The system would try for a quarter of an hour.
    expect(webSocketsMs + (await untilRemoteGone(local))).toBeLessThan(30_000);
    await expectUndisturbed(local);
  }, 120_000);

  test('event streams with too few events to fill a buffer end when the operating system closes the connection', async () => {
    const network = makeNetwork();
    const { local } = await startRemoteSubscribers(network, ['events'], HEIGHTS, { 'keep-alive-ms': 60_000 });
    // Only now: on a busy machine, connections that are being opened would be given up too.
    network.setRetries(2);
    network.cut();
    // The system sends again after 0.2 s, then after twice as long each time, and gives up at the first time after 1.4 s.
    expect(await untilRemoteGone(local)).toBeLessThan(3_000 + BLOCK_MS + SLACK_MS);
    await expectUndisturbed(local);
  }, 120_000);
});

describe.skipIf(!isPossible)('a thousand subscribers that stop reading', () => {
  test.each<SubscriptionTransport>(['websocket', 'events'])(
    'cost a bounded amount of memory each: %s',
    async (transport) => {
      // Time enough to send a thousand large updates before the next come.
      const settings = { 'sandbox-block-ms': 2_000, 'keep-alive-ms': 60_000 };
      const { local, remote, memoryBefore } = await startRemoteSubscribers(
        makeNetwork(),
        [transport],
        PRICES,
        settings,
      );
      remote.send('pause' satisfies Command);
      const skipped = () => figure(local, 'pdex_updates_skipped_total{source="head"}');
      await expect.poll(skipped, { timeout: 90_000, interval: 250 }).toBeGreaterThanOrEqual(REMOTE_COUNT);
      const bytes = (await figure(local, 'process_resident_memory_bytes')) - memoryBefore;
      // This includes what the process has not collected yet. They hold a tenth of it.
      expect(bytes / REMOTE_COUNT).toBeLessThan(600_000);
      await expectUndisturbed(local);
    },
    120_000,
  );
});
