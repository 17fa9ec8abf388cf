import type { GraphQLError } from 'graphql';
import type { Service } from '../../graphql/context.ts';
import { createPlanner } from '../../graphql/execution/planner.ts';
import { schema } from '../../graphql/schema.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import { createTurnQueue } from '../../turns/turns.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { createArrayResponses } from './array-response.ts';
import { createDocuments } from './documents.ts';
import { createMinimumHeights } from './minimum-heights.ts';
import { createPersistedQueries, type PersistedDocuments } from './persisted-queries.ts';
import { createPipeline } from './pipeline.ts';
import { createQueryResponses } from './query-responses.ts';
import { createDataVersion, createResponseCache } from './response-cache.ts';
import { createSubscriptionGroups } from './subscription-groups.ts';

/** What the operations of all transports need. */
export type OperationsOptions = {
  readonly service: Service;
  readonly metrics: Metrics;
  readonly maskError: (error: unknown) => GraphQLError;
  readonly tracing?: Tracing | undefined;
  /** Maximum size of the response cache. */
  readonly responseCacheBytes: number;
  readonly documents: PersistedDocuments;
  /** Whether only persisted documents are executed. */
  readonly persistedOnly: boolean;
  /** How long a response of an upstream may take, and how long an operation waits for its minimum height. */
  readonly upstreamTimeoutMs: number;
};

/** Creates the pipeline, and what all transports share beside it: each cache and each queue exists once. */
export function createOperations(options: OperationsOptions) {
  const { service, metrics, maskError, tracing, responseCacheBytes } = options;
  const { limits, sources, now } = service;

  // Long work of all requests does one step per turn of the event loop, so that many long requests do not block it together.
  const takeTurn = createTurnQueue();
  const persisted = createPersistedQueries({ documents: options.documents, isOnly: options.persistedOnly });
  const documents = createDocuments({ schema, limits, takeTurn, onRefused: metrics.recordRefusedOperation });
  const planner = createPlanner({ schema, limits });
  const subscribeToGroup = createSubscriptionGroups({ service, takeTurn, metrics, maskError, tracing });
  const minimumHeights = createMinimumHeights(service, options.upstreamTimeoutMs, metrics);
  const steps = { service, persisted, documents, planner, subscribeToGroup, minimumHeights };
  const pipeline = createPipeline({ ...steps, metrics, maskError, takeTurn });
  const dataVersion = createDataVersion(sources);
  const cache = createResponseCache({ maxBytes: responseCacheBytes, now });

  return {
    pipeline,
    persisted,
    minimumHeights,
    takeTurn,
    respondOver: createQueryResponses({ cache, dataVersion, metrics }),
    respondToArray: createArrayResponses(pipeline, limits.maxValues, metrics),
  };
}
