import { expect, test } from 'vitest';
import { createHistoryStore } from '../../src/history/store-client.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { until } from '../support/until.ts';

test('the backfill ends where heights are deleted, also if it may read further back', async () => {
  const gateway = await startGatewayForTest({
    store: createHistoryStore({ database: { kind: 'memory' }, rawDays: 1 }),
    config: { historyRawDays: 1, historyBackfillHours: 96, historyBackfillStep: 60 },
    sandbox: { history: 9_000 },
  });
  await gateway.untilReady();
  const { history } = gateway.app.service.sources;
  await until(async () => (history.status().coverage?.heights ?? 0) > 30);
  await until(async () => !history.isBackfilling());
  // What is old is deleted once an hour, which has 90 blocks.
  for (let block = 0; block < 92; block++) await gateway.advance();
  await until(async () => !history.isBackfilling());
  const calls = gateway.sandbox.node.calls('getpdestate');
  for (let block = 0; block < 5; block++) await gateway.advance();
  expect(gateway.sandbox.node.calls('getpdestate') - calls).toBeLessThan(15);
});
