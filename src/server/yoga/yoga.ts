import type { GraphQLError } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import { schema } from '../../graphql/schema.ts';
import type { RateLimits } from '../clients/rate-limits.ts';
import type { PersistedQueries } from '../operations/persisted-queries.ts';
import { useAccessLog } from './use-access-log.ts';
import { type ServerContext, type UseOperationsOptions, useOperations } from './use-operations.ts';
import { useRateLimitHeaders } from './use-rate-limit-headers.ts';
import { useRequestBody } from './use-request-body.ts';
import { type UseResponsesOptions, useResponses } from './use-responses.ts';

/** The HTTP layer for requests that are not plain queries: arrays, event streams, wrong methods and types. */
export type Yoga = YogaServerInstance<ServerContext, object>;

/** The path of the GraphQL endpoint, over HTTP and over websockets. */
export const GRAPHQL_PATH = '/graphql';

/** What Yoga needs. */
type GatewayYogaOptions = UseOperationsOptions &
  UseResponsesOptions & {
    readonly rates: RateLimits | undefined;
    readonly persisted: PersistedQueries;
    readonly maxBodyBytes: number;
    readonly maxOperationsPerRequest: number;
    /** Whether operations are noted for the access log. */
    readonly logsAccess: boolean;
    readonly maskError: (error: unknown) => GraphQLError;
  };

/** Creates Yoga, with its plugins in the order in which a request meets them. */
export function createGatewayYoga(options: GatewayYogaOptions): Yoga {
  const { rates, persisted, maxBodyBytes, maxOperationsPerRequest, logsAccess, maskError } = options;

  return createYoga<ServerContext, object>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    maskedErrors: { maskError },
    maxRequestBodySize: maxBodyBytes,
    // The pipeline parses, validates and executes.
    parserAndValidationCache: false,
    batching: maxOperationsPerRequest > 1 && { limit: maxOperationsPerRequest },
    multipart: false,
    landingPage: false,
    // Yoga responds to all URLs with this end. No URL ends with a line break. The gateway has a health check of its own.
    healthCheckEndpoint: '\n',
    // The handler of the GraphQL endpoint checks origins, and browsers get GraphiQL before a request comes here.
    cors: false,
    graphiql: false,
    logging: false,
    plugins: [
      ...(rates ? [useRateLimitHeaders(rates)] : []),
      useRequestBody(),
      ...(logsAccess ? [useAccessLog(persisted)] : []),
      useOperations(options),
      useResponses(options),
    ],
  });
}
