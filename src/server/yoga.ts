import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import { type Context, createContext, type Service } from '../graphql/context.ts';
import { createErrorMask } from '../graphql/errors.ts';
import { schema } from '../graphql/schema.ts';
import { createDocumentCaches } from './document-cache.ts';
import type { Metrics } from './metrics.ts';
import { useDepartures } from './use-departures.ts';
import { useDocumentErrors } from './use-document-errors.ts';
import { useJsonOnly } from './use-json-only.ts';
import { useMetrics } from './use-metrics.ts';
import { useOperationLimits } from './use-operation-limits.ts';

/** The one pipeline that every operation goes through, by whichever door it comes. */
export type Yoga = YogaServerInstance<Record<string, never>, Context>;

/** The path of the GraphQL endpoint, over HTTP and over websockets. */
export const GRAPHQL_PATH = '/graphql';

/** What the pipeline is made of. */
export type GatewayYogaOptions = {
  readonly service: Service;
  readonly metrics: Metrics;
  /** Told of errors of ours; nobody else learns what they are. */
  readonly internal: (error: unknown) => void;
};

/** Makes the pipeline: plugins in the order in which an operation meets them. */
export function createGatewayYoga({ service, metrics, internal }: GatewayYogaOptions): Yoga {
  const maskError = createErrorMask({ internal });

  return createYoga<Record<string, never>, Context>({
    schema,
    context: () => createContext(service),
    graphqlEndpoint: GRAPHQL_PATH,
    maskedErrors: { maskError },
    maxRequestBodySize: service.limits.maxBodyBytes,
    parserAndValidationCache: createDocumentCaches(),
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
      useJsonOnly(),
      useMetrics(metrics),
      useDocumentErrors(service.limits),
      useOperationLimits(service.limits),
      useDepartures(),
    ],
  });
}
