import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { startGatewayForTest, type TestGatewayOptions } from '../../support/gateway.ts';
import { sample } from '../../support/metrics.ts';
import { repeat } from '../../support/operations.ts';
import { createTestPipeline, runQuery, testClient } from '../../support/pipeline.ts';
import { PRV } from '../../support/tokens.ts';

async function openPipeline(options?: TestGatewayOptions) {
  const gateway = await startGatewayForTest(options);
  await gateway.untilHeight(gateway.sandbox.chain.tip.height);
  const metrics = createMetrics('test');
  return { gateway, metrics, pipeline: createTestPipeline({ service: gateway.app.service, metrics }) };
}

const QUERY =
  'query ($id: TokenId!, $first: Int!) { poolPair(token1Id: $id, token2Id: "b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696") { id price } poolPairs(first: $first) { totalCount } }';

test.each([
  ['query', `{ ${repeat(400, (n) => `a${n}: __typename`)} }`],
  ['subscribe', 'subscription { head { beaconHeight } }'],
] as const)('the duration of an operation is counted in seconds: %s', async (type, query) => {
  const { pipeline, metrics } = await openPipeline();
  const prepared = await pipeline.prepare({ query }, testClient());
  if (prepared.errors !== undefined) throw prepared.errors[0];
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const executing = type === 'query' ? pipeline.execute(prepared) : pipeline.subscribe(prepared);
  vi.advanceTimersByTime(2_500);
  await executing;
  expect(sample(await metrics.text(), `pdex_operation_duration_seconds_sum{type="${type}"}`)).toBe(2.5);
});

describe('a query in the pipeline', () => {
  test('is counted once, also if it is introspection', async () => {
    const { gateway, pipeline, metrics } = await openPipeline();
    const query = '{ __type(name: "ChainInfo") { name fields { name } } }';
    for (let time = 0; time < 2; time++) {
      expect((await runQuery(pipeline, { query })).data).toEqual((await gateway.ask(query)).data);
    }
    expect(await metrics.text()).toContain('pdex_operations_total{type="query",outcome="whole"} 2');
  });

  test('is refused if it names no operation of the document, and counted as refused', async () => {
    const { pipeline, metrics } = await openPipeline();
    for (let time = 1; time <= 2; time++) {
      await runQuery(pipeline, { query: '{ beaconHeight }' });
      const { errors } = await runQuery(pipeline, { query: '{ beaconHeight }', operationName: 'Other' });
      expect(errors?.map(({ message }) => message)).toEqual(['Could not determine what operation to execute.']);
      expect(await metrics.text()).toContain(`pdex_operations_total{type="any",outcome="refused"} ${time}`);
    }
  });

  test('is compared with the limits each time, and counted as refused', async () => {
    const { pipeline, metrics } = await openPipeline({ config: { maxComplexity: 50 }, sandbox: { pools: 200 } });
    for (const first of [1, 1, 100]) {
      const { errors } = await runQuery(pipeline, { query: QUERY, variables: { id: PRV, first } });
      expect(errors?.[0]?.extensions['code']).toBe(first === 100 ? 'QUERY_TOO_COMPLEX' : undefined);
    }
    const text = await metrics.text();
    expect(text).toContain('pdex_operations_total{type="query",outcome="whole"} 2');
    expect(text).toContain('pdex_operations_total{type="any",outcome="refused"} 1');
  });
});
