import type { GraphQLError } from 'graphql';
import { createYoga, type YogaServerInstance } from 'graphql-yoga';
import { schema } from '../../graphql/schema.ts';
import { GRAPHQL_PATH } from '../requests/http-exchange.ts';
import { type ServerContext, type UseOperationsOptions, useOperations } from './use-operations.ts';

/** The HTTP layer for requests that are not plain: event streams, wrong methods and types, and those of `gateway.fetch`. */
export type Yoga = YogaServerInstance<ServerContext, object>;

type GatewayYogaOptions = UseOperationsOptions & {
  readonly maxBodyBytes: number;
  readonly maskError: (error: unknown) => GraphQLError;
};

/** Creates Yoga with the pipeline in the place of its execution. */
export function createGatewayYoga(options: GatewayYogaOptions): Yoga {
  const { maxBodyBytes, maskError } = options;
  return createYoga<ServerContext, object>({
    schema,
    // The routes of the server have checked the path. Express leaves the prefix of a mounted handler in it.
    graphqlEndpoint: '/*',
    // The gateway has a health check of its own.
    healthCheckEndpoint: `${GRAPHQL_PATH}/health`,
    maskedErrors: { maskError },
    maxRequestBodySize: maxBodyBytes,
    // The pipeline parses, validates and executes, and has arrays of operations.
    parserAndValidationCache: false,
    batching: false,
    multipart: false,
    landingPage: false,
    // The endpoint checks origins, and browsers get GraphiQL before a request comes here.
    cors: false,
    graphiql: false,
    logging: false,
    plugins: [useOperations(options)],
  });
}

/** Executes a request without a server. The response to a HEAD is that to a GET without its body. */
export async function fetchWith(yoga: Yoga, input: Request | string, init?: RequestInit): Promise<Response> {
  const fetch = yoga.fetch as typeof globalThis.fetch;
  const response = await fetch(input, init);
  const method = init?.method ?? (typeof input === 'string' ? 'GET' : input.method);
  if (method !== 'HEAD') return response;
  await response.body?.cancel();
  return new Response(null, response);
}
