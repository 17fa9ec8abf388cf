import type { GraphQLError } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import type { Context, Service } from '../graphql/context.ts';
import { schema } from '../graphql/schema.ts';
import type { PersistedQueries } from './answers/persisted-queries.ts';
import type { Admission } from './clients/admission.ts';
import type { RateLimits } from './clients/rate-limits.ts';
import type { DoorContext } from './context-of.ts';
import type { Documents } from './documents/documents.ts';
import type { Metrics } from './metrics/metrics.ts';
import { useAccessLog } from './plugins/use-access-log.ts';
import { useAnswerType } from './plugins/use-answer-type.ts';
import { useDocuments } from './plugins/use-documents.ts';
import { useEventStream } from './plugins/use-event-stream.ts';
import { useExecution } from './plugins/use-execution.ts';
import { useMetrics } from './plugins/use-metrics.ts';
import { usePersistedQueries } from './plugins/use-persisted-queries.ts';
import { useRateLimits } from './plugins/use-rate-limits.ts';
import { useRefusedStreams } from './plugins/use-refused-streams.ts';
import { useRequestBody } from './plugins/use-request-body.ts';
import { useUnreadStreams } from './plugins/use-unread-streams.ts';
import { useUpdateGroups } from './plugins/use-update-groups.ts';
import type { QueryExecution } from './query-execution.ts';
import type { UpdateGroups } from './updates/update-groups.ts';

/** The one pipeline that every operation goes through, by whichever door it comes. */
export type Yoga = YogaServerInstance<Record<string, never>, Context>;

/** The path of the GraphQL endpoint, over HTTP and over websockets. */
export const GRAPHQL_PATH = '/graphql';

/** What the pipeline is made of. */
export type GatewayYogaOptions = {
  readonly service: Service;
  /** What resolvers get of an operation that comes in by a door. */
  readonly contextOf: (door: DoorContext) => Context;
  readonly admission: Admission;
  readonly rates: RateLimits | undefined;
  readonly persisted: PersistedQueries;
  readonly documents: Documents;
  readonly metrics: Metrics;
  /** Whether operations are noted for the access log. */
  readonly logsAccess: boolean;
  readonly queries: QueryExecution;
  readonly groups: UpdateGroups;
  /** How often the reader of a stream of events hears something at the least. */
  readonly keepAliveMs: number;
  /** The one border that errors cross. */
  readonly maskError: (error: unknown) => GraphQLError;
  /** Told of errors of ours; nobody else learns what they are. */
  readonly internal: (error: unknown) => void;
};

/** Makes the pipeline: plugins in the order in which an operation meets them. */
export function createGatewayYoga(options: GatewayYogaOptions): Yoga {
  const { service, contextOf, admission, rates, persisted, documents, metrics, queries, groups } = options;
  const { logsAccess, keepAliveMs, maskError, internal } = options;

  return createYoga<Record<string, never>, Context>({
    schema,
    context: contextOf,
    graphqlEndpoint: GRAPHQL_PATH,
    maskedErrors: { maskError },
    maxRequestBodySize: service.limits.maxBodyBytes,
    // Documents are read by ours.
    parserAndValidationCache: false,
    batching: service.limits.maxOperationsPerRequest > 1 && { limit: service.limits.maxOperationsPerRequest },
    multipart: false,
    landingPage: false,
    // Yoga answers its health check wherever a URL ends so; none ends with a line break. Ours is in health.ts.
    healthCheckEndpoint: '\n',
    // http.ts answers for origins.
    cors: false,
    // GraphiQL has a door of its own, in front of this.
    graphiql: false,
    logging: false,
    plugins: [
      ...(rates ? [useRateLimits(admission, rates)] : []),
      useAnswerType(),
      useRequestBody(),
      usePersistedQueries(persisted),
      useExecution(queries),
      useMetrics(metrics),
      useUpdateGroups(groups),
      useUnreadStreams(),
      ...(logsAccess ? [useAccessLog()] : []),
      useDocuments(documents, admission),
      useRefusedStreams(),
      useEventStream({ takeUpdates: groups.takeUpdates, keepAliveMs, internal }),
    ],
  });
}
