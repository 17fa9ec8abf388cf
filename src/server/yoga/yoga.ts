import { createYoga, type Plugin, type YogaServerInstance } from 'graphql-yoga';
import type { WrittenResult } from '../../graphql/execution/written-result.ts';
import { schema } from '../../graphql/schema.ts';
import type { RateLimits } from '../clients/rate-limits.ts';
import { summarizeErrors } from '../operations/log-details.ts';
import type { PersistedQueries } from '../operations/persisted-queries.ts';
import { type ServerContext, type UseOperationsOptions, useOperations } from './use-operations.ts';
import { useRequestBody } from './use-request-body.ts';
import { type UseResponsesOptions, useResponses } from './use-responses.ts';

/** The HTTP layer for requests that are not plain queries: arrays, event streams, wrong methods and types. */
export type Yoga = YogaServerInstance<ServerContext, object>;

type GatewayYogaOptions = UseOperationsOptions &
  UseResponsesOptions & {
    readonly persisted: PersistedQueries;
    readonly maxBodyBytes: number;
    readonly maxOperationsPerRequest: number;
    /** Whether operations are noted for the access log. */
    readonly logsAccess: boolean;
  };

/** Creates Yoga, with its plugins in the order in which a request meets them. */
export function createGatewayYoga(options: GatewayYogaOptions): Yoga {
  const { rates, persisted, takeTurn, maxBodyBytes, maxOperationsPerRequest, logsAccess, maskError } = options;

  return createYoga<ServerContext, object>({
    schema,
    // The routes of the server have checked the path. Express leaves the prefix of a mounted handler in it.
    graphqlEndpoint: '/*',
    maskedErrors: { maskError },
    maxRequestBodySize: maxBodyBytes,
    // The pipeline parses, validates and executes.
    parserAndValidationCache: false,
    batching: maxOperationsPerRequest > 1 && { limit: maxOperationsPerRequest },
    multipart: false,
    extraParamNames: ['documentId'],
    landingPage: false,
    // Yoga responds to all URLs with this end. No URL ends with a line break. The gateway has a health check of its own.
    healthCheckEndpoint: '\n',
    // The handler of the GraphQL endpoint checks origins, and browsers get GraphiQL before a request comes here.
    cors: false,
    graphiql: false,
    logging: false,
    plugins: [
      ...(rates ? [useRateLimitHeaders(rates)] : []),
      useRequestBody(takeTurn),
      ...(logsAccess ? [useAccessLog(persisted)] : []),
      useOperations(options),
      useResponses(options),
    ],
  });
}

/** Executes a request without a server. The response to a HEAD is that to a GET without its body. */
export async function fetchWith(yoga: Yoga, input: Request | string, init?: RequestInit): Promise<Response> {
  const fetch = yoga.fetch as typeof globalThis.fetch;
  const method = init?.method ?? (typeof input === 'string' ? 'GET' : input.method);
  if (method !== 'HEAD') return fetch(input, init);
  const response = await fetch(new Request(input, { ...init, method: 'GET' }));
  await response.body?.cancel();
  return new Response(null, response);
}

/** Adds the headers with the points that a client has left. */
function useRateLimitHeaders(rates: RateLimits): Plugin<object, ServerContext> {
  return {
    onResponse({ request, response, serverContext: { exchange } }) {
      if (exchange === undefined || request.method === 'OPTIONS') return;
      const retryAfter = response.headers.get('retry-after') ?? undefined;
      const [policyName, policy, name, standing] = rates.headersFor(exchange.request, retryAfter);
      response.headers.set(policyName, policy);
      response.headers.set(name, standing);
    },
  };
}

/** Passes the operation of a request and its errors to the access log. Of several operations it passes the first. */
function useAccessLog(persisted: PersistedQueries): Plugin<object, ServerContext> {
  return {
    onParams({ params, context: { exchange } }) {
      if (exchange !== undefined) exchange.access ??= { label: persisted.labelOf(params) };
    },
    onResultProcess({ result, serverContext: { exchange } }) {
      if (exchange === undefined) return;
      const results = [result].flat() as readonly Partial<WrittenResult>[];
      const summaries = results.flatMap(({ errors, text }) => summarizeErrors(errors, text !== undefined) ?? []);
      const codes = [...new Set(summaries.flatMap((summary) => summary.codes))];
      const isNotable = summaries.some((summary) => summary.isNotable);
      if (codes.length > 0) exchange.access = { ...exchange.access, errors: { codes, isNotable } };
    },
  };
}
