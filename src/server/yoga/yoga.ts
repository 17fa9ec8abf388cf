import type { GraphQLError } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import type { Context, Service } from '../../graphql/context.ts';
import { schema } from '../../graphql/schema.ts';
import type { RateLimits } from '../clients/rate-limits.ts';
import type { DoorContext } from '../context-of.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Admission } from '../operations/admission.ts';
import type { Documents } from '../operations/documents.ts';
import type { PersistedQueries } from '../operations/persisted-queries.ts';
import type { QueryExecution } from '../operations/run.ts';
import type { SubscriptionGroups } from '../operations/subscription-groups.ts';
import { useAccessLog } from './use-access-log.ts';
import { useAnswerType } from './use-answer-type.ts';
import { useDocuments } from './use-documents.ts';
import { useEventStream } from './use-event-stream.ts';
import { useExecution } from './use-execution.ts';
import { useMetrics } from './use-metrics.ts';
import { usePersistedQueries } from './use-persisted-queries.ts';
import { useRateLimits } from './use-rate-limits.ts';
import { useRefusedStreams } from './use-refused-streams.ts';
import { useRequestBody } from './use-request-body.ts';
import { useUnreadStreams } from './use-unread-streams.ts';
import { useUpdateGroups } from './use-update-groups.ts';

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
  readonly groups: SubscriptionGroups;
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
