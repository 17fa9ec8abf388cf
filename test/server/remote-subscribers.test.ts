import { describe, expect, test } from 'vitest';
import { canMakeNetworks, makeNetwork } from '../support/network.ts';
import {
  expectUndisturbed,
  FEW_REMOTE,
  figure,
  HEIGHTS,
  LOCAL_COUNT,
  PRICES,
  SLACK_MS,
  SOME_REMOTE,
  startRemoteSubscribers,
  untilRemoteGone,
  untilRemoteWebSocketsGone,
} from '../support/remote-subscribers.ts';
import type { SubscriptionTransport } from '../support/subscribers.ts';
import type { Command } from '../support/subscribers-process.ts';

const isPossible = canMakeNetworks();

// On a machine that cannot make networks this says that it was skipped; CI can, and there a skip is a failure.
test.runIf(process.env['CI'])('CI can make networks', () => expect(isPossible).toBe(true));

describe.skipIf(!isPossible)('subscribers whose network breaks, so that no FIN arrives', () => {
  test('websockets are closed within two ping periods, event streams soon after their buffers are full', async () => {
    const network = makeNetwork();
    const subscribers = await startRemoteSubscribers(network, ['websocket', 'events'], PRICES, {
      'keep-alive-ms': 2_000,
    });
    network.cut();
    const webSocketsMs = await untilRemoteWebSocketsGone(subscribers, LOCAL_COUNT / 2);
    expect(webSocketsMs).toBeLessThan(4_000 + SLACK_MS);
    // Two periods after its buffer is full. The buffers do not fill at once. The system would try for a quarter of an hour.
    expect(webSocketsMs + (await untilRemoteGone(subscribers))).toBeLessThan(200_000);
    await expectUndisturbed(subscribers.local);
  });

  test('event streams with too few events to fill a buffer end when the operating system closes the connection', async () => {
    const network = makeNetwork();
    const settings = { 'keep-alive-ms': 60_000 };
    const subscribers = await startRemoteSubscribers(network, ['events'], HEIGHTS, settings, FEW_REMOTE);
    // Only now: on a busy machine, connections that are being opened would be given up too.
    network.setRetries(2);
    network.cut();
    // The system sends again after 0.2 s, then after twice as long each time, and gives up at the first time after 1.4 s.
    expect(await untilRemoteGone(subscribers)).toBeLessThan(3_000 + SLACK_MS);
    await expectUndisturbed(subscribers.local);
  });
});

describe.skipIf(!isPossible)('subscribers that stop reading', () => {
  test.each<SubscriptionTransport>(['websocket', 'events'])(
    'cost a bounded amount of memory each: %s',
    async (transport) => {
      const settings = { 'keep-alive-ms': 60_000 };
      const { local, remote, memoryBefore, advance } = await startRemoteSubscribers(
        makeNetwork(),
        [transport],
        PRICES,
        settings,
        SOME_REMOTE,
      );
      remote.send('pause' satisfies Command);
      const skipped = () => figure(local, 'pdex_updates_skipped_total{source="head"}');
      while ((await skipped()) < SOME_REMOTE) await advance();
      const bytes = (await figure(local, 'process_resident_memory_bytes')) - memoryBefore;
      // This includes what the process has not collected yet. They hold a tenth of it.
      expect(bytes / SOME_REMOTE).toBeLessThan(600_000);
      await expectUndisturbed(local);
    },
  );
});
