import type { Plugin } from 'graphql-yoga';
import { type ErrorSummary, summarizeErrors } from '../operations/error-summary.ts';
import { labelOf } from '../operations/operation-label.ts';
import type { PersistedQueries } from '../operations/persisted-queries.ts';
import type { ServerContext } from './use-operations.ts';

/** Passes the operation of a request and its errors to the access log. Of several operations it passes the first. */
export function useAccessLog(persisted: PersistedQueries): Plugin<object, ServerContext> {
  return {
    onParams({ params, context: { exchange } }) {
      if (exchange !== undefined) exchange.access ??= { label: labelOf({ ...params, query: persisted.find(params) }) };
    },
    onResultProcess({ result, serverContext: { exchange } }) {
      if (exchange === undefined) return;
      const summaries = [result].flat().flatMap((each) => summarizeErrors(each as never) ?? []);
      if (summaries.length > 0) exchange.access = { ...exchange.access, errors: merge(summaries) };
    },
  };
}

function merge(summaries: readonly ErrorSummary[]): ErrorSummary {
  return {
    codes: [...new Set(summaries.flatMap(({ codes }) => codes))],
    isNotable: summaries.some(({ isNotable }) => isNotable),
  };
}
