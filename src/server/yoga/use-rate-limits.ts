import type { IncomingMessage } from 'node:http';
import type { Plugin } from 'graphql-yoga';
import type { RateLimits } from '../clients/rate-limits.ts';
import type { Admission } from '../operations/admission.ts';
import { toAnswer } from '../operations/refusal.ts';

/** What the HTTP door gives to the pipeline; a test that asks without a port gives nothing. */
type HttpContext = { readonly req?: IncomingMessage };

/**
 * Charges for requests before they are read, and tells clients how they stand. Documents are charged where they are read, and
 * what operations cost beside with the other limits, when it is known.
 */
export function useRateLimits(admission: Admission, rates: RateLimits): Plugin<object, HttpContext> {
  return {
    onRequest({ request, serverContext, endResponse, fetchAPI }) {
      if (serverContext.req === undefined || request.method === 'OPTIONS') return;
      const refused = admission.chargeRequest(serverContext.req, 'http');
      if (refused === undefined) return;

      const { status, headers, body } = toAnswer(refused, request.headers.get('accept'));
      endResponse(new fetchAPI.Response(body, { status, headers }));
    },
    onResponse({ request, response, serverContext: { req } }) {
      if (req === undefined || request.method === 'OPTIONS') return;
      const retryAfter = response.headers.get('retry-after') ?? undefined;
      const [policyName, policy, name, standing] = rates.headersFor(req, retryAfter);
      response.headers.set(policyName, policy);
      response.headers.set(name, standing);
    },
  };
}
