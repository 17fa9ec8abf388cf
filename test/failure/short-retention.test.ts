import { expect, test } from 'vitest';
import { createHistoryStore } from '../../src/history/store-client.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { until } from '../support/until.ts';

const HOUR_MS = 3_600_000;

// `test/history/stores.test.ts` shows that it also ends where heights are already deleted.
test('the backfill reads no further back than heights are stored, also if it may', async () => {
  const gateway = await startGatewayForTest({
    store: createHistoryStore({ database: { kind: 'memory' }, rawDays: 1 }),
    config: { historyRawDays: 1, historyBackfillHours: 96, historyBackfillStep: 60 },
    sandbox: { history: 9_000 },
  });
  await gateway.untilReady();
  const { history } = gateway.app.service.sources;
  await until(() => (history.status().coverage?.heights ?? 0) > 30);
  await until(() => !history.isBackfilling());
  const ageMs = gateway.sandbox.chain.tip.time * 1_000 - (history.status().coverage?.first.time ?? 0);
  // One height below the day is read.
  expect(Math.abs(ageMs - 24 * HOUR_MS)).toBeLessThan(HOUR_MS);
});
