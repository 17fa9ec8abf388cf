import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import { type Context, createContext, type Service } from '../graphql/context.ts';
import { createErrorMask } from '../graphql/errors.ts';
import { schema } from '../graphql/schema.ts';
import type { Log } from '../log.ts';
import { useDocumentErrors } from './use-document-errors.ts';
import { useJsonOnly } from './use-json-only.ts';
import { useOperationLimits } from './use-operation-limits.ts';

/** The one pipeline that every operation goes through, by whichever door it comes. */
export type Yoga = YogaServerInstance<Record<string, never>, Context>;

/** The path of the GraphQL endpoint, over HTTP and over websockets. */
export const GRAPHQL_PATH = '/graphql';

/** Makes the pipeline: plugins in the order in which an operation meets them. */
export function createGatewayYoga(service: Service, log: Log): Yoga {
  const maskError = createErrorMask({
    internal: (error) => log.error({ err: error }, 'internal error'),
  });

  return createYoga<Record<string, never>, Context>({
    schema,
    context: () => createContext(service),
    graphqlEndpoint: GRAPHQL_PATH,
    maskedErrors: { maskError },
    maxRequestBodySize: service.limits.maxBodyBytes,
    multipart: false,
    landingPage: false,
    // Yoga answers its health check wherever a URL ends so; none ends with a line break. Ours is in health.ts.
    healthCheckEndpoint: '\n',
    cors: { origin: '*', methods: ['GET', 'POST', 'OPTIONS'] },
    logging: false,
    plugins: [useJsonOnly(), useDocumentErrors(service.limits), useOperationLimits(service.limits)],
  });
}
