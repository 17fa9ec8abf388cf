import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GraphQLError } from 'graphql';
import type { Service } from '../../src/graphql/context.ts';
import { createErrorMask } from '../../src/graphql/errors.ts';
import { createPlanner } from '../../src/graphql/execution/planner.ts';
import { toWholeText } from '../../src/graphql/execution/written-result.ts';
import { schema } from '../../src/graphql/schema.ts';
import { Account } from '../../src/server/clients/rate-limits.ts';
import { createMetrics, type Metrics } from '../../src/server/metrics/metrics.ts';
import { createDocuments } from '../../src/server/operations/documents.ts';
import { EncodedResponse } from '../../src/server/operations/encoded-response.ts';
import { createPersistedQueries, type PersistedQueries } from '../../src/server/operations/persisted-queries.ts';
import { createPipeline, type Pipeline } from '../../src/server/operations/pipeline.ts';
import type { Client } from '../../src/server/operations/prepared-operation.ts';
import { createSubscriptionGroups } from '../../src/server/operations/subscription-groups.ts';
import type { SentOperation } from '../../src/server/requests/parameters.ts';

/** What differs from the default. */
export type TestPipelineOptions = {
  readonly service: Service;
  readonly metrics?: Metrics;
  readonly maskError?: (error: unknown) => GraphQLError;
  readonly persisted?: PersistedQueries;
};

/** Creates a pipeline over the data of a gateway, with caches of its own. */
export function createTestPipeline({
  service,
  metrics = createMetrics('test'),
  ...options
}: TestPipelineOptions): Pipeline {
  const { limits } = service;
  const { maskError = createErrorMask(() => {}) } = options;
  const { persisted = createPersistedQueries({ documents: new Map(), isOnly: false }) } = options;
  return createPipeline({
    service,
    persisted,
    documents: createDocuments({ schema, limits, onRefused: metrics.recordRefusedOperation }),
    planner: createPlanner({ schema, limits }),
    subscribeToGroup: createSubscriptionGroups({ service, takeTurn: () => nextTurn(), metrics, maskError }),
    minimumHeights: { reach: () => undefined },
    metrics,
    maskError,
    takeTurn: () => nextTurn(),
  });
}

/** A client without an address, which pays nothing. */
export function testClient(): Client {
  return { address: undefined, account: new Account(undefined, undefined, 'http'), wantsCost: false };
}

/** Takes a query through the pipeline. @returns its result, or its errors */
export async function runQuery(
  pipeline: Pipeline,
  sent: SentOperation,
): Promise<{ readonly data: unknown; readonly errors: EncodedResponse['errors'] }> {
  const response = await pipeline.respond(sent, testClient());
  if (!(response instanceof EncodedResponse)) throw new Error('The operation is a subscription.');
  const { data = null } = JSON.parse(toWholeText(response.body)) as { readonly data?: unknown };
  return { data, errors: response.errors };
}
