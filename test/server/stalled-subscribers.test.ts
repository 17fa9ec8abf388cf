import { describe, expect, test } from 'vitest';
import { canMakeNetworks, makeNetwork } from '../support/network.ts';
import {
  expectUndisturbed,
  figure,
  PRICES,
  REMOTE_COUNT,
  startRemoteSubscribers,
} from '../support/remote-subscribers.ts';
import type { SubscriptionTransport } from '../support/subscribers.ts';
import type { Command } from '../support/subscribers-process.ts';

const isPossible = canMakeNetworks();

// On a machine that cannot make networks this says that it was skipped; CI can, and there a skip is a failure.
test.runIf(process.env['CI'])('CI can make networks', () => expect(isPossible).toBe(true));

describe.skipIf(!isPossible)('a thousand subscribers that stop reading', () => {
  test.each<SubscriptionTransport>(['websocket', 'events'])(
    'cost a bounded amount of memory each: %s',
    async (transport) => {
      // Time enough to send a thousand large updates before the next come.
      const settings = { 'sandbox-block-ms': 2_000, 'keep-alive-ms': 60_000 };
      const { local, remote, memoryBefore } = await startRemoteSubscribers(makeNetwork(), transport, PRICES, settings);
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
