import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Metrics } from '../metrics/metrics.ts';
import { isStream } from '../stream.ts';
import { outcomeOf } from '../updates/made-update.ts';

/** Counts what is executed, and what is refused before; updates of subscriptions are counted where they are handed over. */
export function useMetrics(metrics: Metrics): Plugin {
  return {
    onParse:
      () =>
      ({ result }) => {
        if (result instanceof Error) metrics.refusedOperation();
      },
    onValidate:
      () =>
      ({ valid }) => {
        if (!valid) metrics.refusedOperation();
      },
    onExecute() {
      const start = performance.now();
      return {
        onExecuteDone: ({ result }) =>
          metrics.executed('query', outcomeOf(result as ExecutionResult), secondsFrom(start)),
      };
    },
    onSubscribe() {
      const start = performance.now();
      return {
        onSubscribeResult({ result }) {
          const outcome = isStream(result) ? 'whole' : outcomeOf(result as ExecutionResult);
          metrics.executed('subscribe', outcome, secondsFrom(start));
        },
      };
    },
  };
}

function secondsFrom(start: number): number {
  return (performance.now() - start) / 1_000;
}
