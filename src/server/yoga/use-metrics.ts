import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Metrics } from '../metrics/metrics.ts';
import { outcomeOf } from '../operations/encoded-update.ts';
import { isStream } from '../stream.ts';

/**
 * Counts the subscriptions that begin. Documents are counted where they are refused, queries where they are executed, and
 * updates where they are handed over.
 */
export function useMetrics(metrics: Metrics): Plugin {
  return {
    onSubscribe() {
      const start = performance.now();
      return {
        onSubscribeResult({ result }) {
          const outcome = isStream(result) ? 'whole' : outcomeOf(result as ExecutionResult);
          metrics.recordOperation('subscribe', outcome, (performance.now() - start) / 1_000);
        },
      };
    },
  };
}
