import { describe, expect, test } from 'vitest';
import { COUNT, expectUndisturbed, figure, PRICES, startFarReaders } from '../support/far-readers.ts';
import { canMakeNetworks, makeNetwork } from '../support/network.ts';
import type { ReadingDoor } from '../support/readers.ts';
import type { Word } from '../support/readers-process.ts';

const isPossible = canMakeNetworks();

// On a machine that cannot make networks this says that it was skipped; CI can, and there a skip is a failure.
test.runIf(process.env['CI'])('CI can make networks', () => expect(isPossible).toBe(true));

describe.skipIf(!isPossible)('a thousand readers that stop reading', () => {
  test.each<ReadingDoor>(['websocket', 'events'])(
    'cost a bounded piece of memory each: %s',
    async (door) => {
      // Time enough to send a thousand large updates before the next come.
      const settings = { 'sandbox-block-ms': 2_000, 'keep-alive-ms': 60_000 };
      const { good, far, memoryBefore } = await startFarReaders(makeNetwork(), door, PRICES, settings);
      far.send('pause' satisfies Word);
      const skipped = () => figure(good, 'pdex_updates_skipped_total{source="head"}');
      await expect.poll(skipped, { timeout: 90_000, interval: 250 }).toBeGreaterThanOrEqual(COUNT);
      const bytes = (await figure(good, 'process_resident_memory_bytes')) - memoryBefore;
      // With what the process has not collected yet: they hold a tenth of that.
      expect(bytes / COUNT).toBeLessThan(600_000);
      await expectUndisturbed(good);
    },
    120_000,
  );
});
