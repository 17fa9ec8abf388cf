import type { ExecutionResult } from 'graphql';
import { describe, expect, test } from 'vitest';
import type { Service } from '../../../src/graphql/context.ts';
import { createErrorMask } from '../../../src/graphql/errors.ts';
import { createExecutor } from '../../../src/graphql/execution/execute.ts';
import { schema } from '../../../src/graphql/schema.ts';
import { createClientAddresses } from '../../../src/server/clients/client-address.ts';
import { createContexts } from '../../../src/server/context-of.ts';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { createAdmission } from '../../../src/server/operations/admission.ts';
import { createDocuments } from '../../../src/server/operations/documents.ts';
import { createEngine } from '../../../src/server/operations/engine.ts';
import { createPersistedQueries } from '../../../src/server/operations/persisted-queries.ts';
import { createQueryExecution } from '../../../src/server/operations/run.ts';
import { createSubscriptionGroups } from '../../../src/server/operations/subscription-groups.ts';
import { createGatewayYoga } from '../../../src/server/yoga/yoga.ts';
import { startGatewayForTest } from '../../support/gateway.ts';
import { BTC, PRV } from '../../support/tokens.ts';

function createTestEngine(service: Service) {
  const metrics = createMetrics('test');
  const admission = createAdmission(service.limits, undefined);
  const internal = (error: unknown) => {
    throw error;
  };
  const contextOf = createContexts(service, createClientAddresses([]));
  const maskError = createErrorMask({ internal });
  const executor = createExecutor();
  const groups = createSubscriptionGroups({ service, executor, metrics, maskError });
  const persisted = createPersistedQueries();
  const documents = createDocuments({ schema, limits: service.limits, refused: metrics.recordRefusedOperation });
  const queries = createQueryExecution({ admission, executor, metrics, maskError });
  const door = {
    rates: undefined,
    persisted,
    documents,
    metrics,
    queries,
    groups,
    keepAliveMs: 1_000,
    maskError,
    internal,
  };
  const yoga = createGatewayYoga({ service, contextOf, admission, logsAccess: false, ...door });
  return { engine: createEngine({ schema, documents, contextOf, admission, queries }), metrics, yoga };
}

describe('an operation that goes through the engine', () => {
  const query =
    'query ($id: TokenId!, $first: Int!) { poolPair(token1Id: $id, token2Id: "b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696") { id price } poolPairs(first: $first) { totalCount } }';

  test('is answered as over HTTP, the first time and when its document is known', async () => {
    const gateway = await startGatewayForTest();
    const { engine } = createTestEngine(gateway.app.service);
    for (const variables of [{ id: PRV, first: 2 }, { id: BTC, first: 3 }, { id: 'x', first: -1 }, { first: 1 }]) {
      const result = await engine.run({ query, variables }, {});
      const { data, errors } = result as ExecutionResult;
      const expected = await gateway.ask(query, variables);
      expect(JSON.parse(JSON.stringify(data ?? null))).toEqual(expected.data ?? null);
      const told = ({ message, path, extensions }: { message: string; path?: unknown; extensions?: object }) => {
        return [message, path, (extensions as { code?: string } | undefined)?.code];
      };
      expect(errors?.map(told)).toEqual(expected.errors?.map(told));
    }
  });

  test('is counted once, also where it is about the schema', async () => {
    const gateway = await startGatewayForTest();
    const { engine, metrics } = createTestEngine(gateway.app.service);
    const introspection = '{ __type(name: "ChainInfo") { name fields { name } } }';
    for (let time = 0; time < 2; time++) {
      const { data } = (await engine.run({ query: introspection }, {})) as ExecutionResult;
      expect(data).toEqual((await gateway.ask(introspection)).data);
    }
    expect(await metrics.text()).toContain('pdex_operations_total{type="query",outcome="whole"} 2');
  });

  test('passes by no hook of an execution but those of which the engine does the same', async () => {
    const gateway = await startGatewayForTest();
    const { yoga } = createTestEngine(gateway.app.service);
    const { plugins } = yoga as unknown as { plugins: readonly { onExecute?: unknown }[] };
    // Yoga's executor, in the place of which ours comes, with the limits in front of it, and the masking of errors.
    expect(plugins.filter(({ onExecute }) => onExecute !== undefined)).toHaveLength(3);
  });

  test('is refused where its name is that of no operation, also when its document is known', async () => {
    const gateway = await startGatewayForTest();
    const { engine } = createTestEngine(gateway.app.service);
    for (let asked = 0; asked < 2; asked++) {
      const door = () => ({ request: new Request('http://gateway/graphql') });
      await engine.run({ query: '{ beaconHeight }' }, door());
      const { errors } = await engine.run({ query: '{ beaconHeight }', operationName: '' }, door());
      expect(errors?.map(({ message }) => message)).toEqual(['Could not determine what operation to execute.']);
    }
  });

  test('is held to the limits and counted when its document is known', async () => {
    const gateway = await startGatewayForTest({ config: { maxComplexity: 50 }, sandbox: { pools: 200 } });
    const { engine, metrics } = createTestEngine(gateway.app.service);
    for (const first of [1, 1, 100]) {
      const result = (await engine.run({ query, variables: { id: PRV, first } }, {})) as ExecutionResult;
      expect(result.errors?.[0]?.extensions['code']).toBe(first === 100 ? 'QUERY_TOO_COMPLEX' : undefined);
    }
    const told = await metrics.text();
    expect(told).toContain('pdex_operations_total{type="query",outcome="whole"} 2');
    expect(told).toContain('pdex_operations_total{type="any",outcome="refused"} 1');
  });

  test('is not executed where its document is wrong, however often it comes', async () => {
    const gateway = await startGatewayForTest();
    const { engine } = createTestEngine(gateway.app.service);
    for (let time = 0; time < 2; time++) {
      const { errors } = (await engine.run({ query: '{ nothing }' }, {})) as ExecutionResult;
      expect(errors?.[0]?.message).toBe('Cannot query field "nothing" on type "Query".');
      const unread = await engine.run({ query: '{' }, {});
      expect(unread.errors?.[0]?.message).toMatch('Syntax Error');
    }
  });
});
