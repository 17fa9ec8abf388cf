import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Metrics, Outcome } from './metrics.ts';
import { isStream } from './stream.ts';

/** Counts what is executed, and what is refused before. */
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
        onExecuteDone: ({ result }) => metrics.executed('query', outcomeOf(result), secondsFrom(start)),
      };
    },
    onSubscribe() {
      const start = performance.now();
      return {
        onSubscribeResult({ result }) {
          if (!isStream(result)) {
            metrics.executed('subscribe', outcomeOf(result), secondsFrom(start));
            return {};
          }
          metrics.executed('subscribe', 'whole', secondsFrom(start));
          return { onNext: ({ result: update }) => metrics.executed('update', outcomeOf(update)) };
        },
      };
    },
  };
}

function outcomeOf(result: unknown): Outcome {
  // A result without errors is written already: its data is not looked at, because it would be read for that.
  const { errors } = result as ExecutionResult;
  if (errors === undefined || errors.length === 0) return 'whole';
  return (result as ExecutionResult).data == null ? 'failed' : 'partial';
}

function secondsFrom(start: number): number {
  return (performance.now() - start) / 1_000;
}
