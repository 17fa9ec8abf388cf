import type { Plugin } from 'graphql-yoga';
import type { RateLimits } from '../clients/rate-limits.ts';
import type { ServerContext } from './use-operations.ts';

/** Adds the headers with the points that a client has left. */
export function useRateLimitHeaders(rates: RateLimits): Plugin<object, ServerContext> {
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
