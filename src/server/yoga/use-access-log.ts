import type { Plugin } from 'graphql-yoga';
import type { HttpExchange } from '../http/open-responses.ts';
import { type ErrorSummary, summarizeErrors } from '../operations/error-summary.ts';
import { labelOf } from '../operations/operation-label.ts';
import { isStream } from '../stream.ts';

/** What the HTTP server passes to Yoga beside the request. */
type ServerContext = { readonly exchange?: HttpExchange };

/** Notes for the access log which operation Yoga's HTTP handler executes, and its errors. Of several, it notes the first. */
export function useAccessLog(): Plugin<object, ServerContext> {
  return {
    onParams({ params, context: { exchange } }) {
      if (exchange !== undefined) exchange.access ??= { label: labelOf(params) };
    },
    onResultProcess({ result, serverContext: { exchange } }) {
      if (exchange === undefined) return;
      const summaries = [result].flat().flatMap((each) => (isStream(each) ? [] : (summarizeErrors(each) ?? [])));
      if (summaries.length > 0) exchange.access = { ...exchange.access, errors: together(summaries) };
    },
  };
}

function together(summaries: readonly ErrorSummary[]): ErrorSummary {
  return {
    codes: [...new Set(summaries.flatMap(({ codes }) => codes))],
    isNotable: summaries.some(({ isNotable }) => isNotable),
  };
}
