import type { ExecutionResult, GraphQLError } from 'graphql';
import type { Operation } from '../graphql/cost.ts';
import type { ExecutedOperation, Executor } from '../graphql/execution/execute.ts';
import type { Soon } from '../soon.ts';
import type { Admission } from './clients/admission.ts';
import type { Metrics } from './metrics/metrics.ts';
import { outcomeOf } from './updates/made-update.ts';

/** What every query goes through once it has a context, by whichever door it comes: limits, a plan, a count. */
export type QueryExecution = {
  /** @returns why an operation is not executed, where it asks for too much: it counts as refused then */
  refusalOf(operation: Operation): GraphQLError | undefined;
  /** Executes a query that is not refused, and counts it. @param otherwise executes what has no plan */
  execute<Given extends ExecutedOperation>(
    operation: Given,
    otherwise: (operation: Given) => Soon<ExecutionResult>,
  ): Soon<ExecutionResult>;
  /** Executes a query that is not refused, and counts it. @returns `undefined` for one that has no plan */
  executeByPlan(operation: ExecutedOperation): Soon<ExecutionResult> | undefined;
};

/** What decides of operations, executes and counts them. */
export type QueryExecutionOptions = {
  readonly admission: Admission;
  readonly executor: Executor;
  readonly metrics: Metrics;
};

/** Makes what queries go through. */
export function createQueryExecution({ admission, executor, metrics }: QueryExecutionOptions): QueryExecution {
  function count(result: ExecutionResult, start: number): ExecutionResult {
    metrics.executed('query', outcomeOf(result), (performance.now() - start) / 1_000);
    return result;
  }

  const countSoon = (result: Soon<ExecutionResult>, start: number) =>
    result instanceof Promise ? result.then((awaited) => count(awaited, start)) : count(result, start);

  return {
    refusalOf(operation) {
      const refusal = admission.refusalOf(operation);
      // What is over a rate is counted by itself, on every door.
      if (refusal !== undefined && refusal.extensions['code'] !== 'RATE_LIMITED') metrics.refusedOperation();
      return refusal;
    },
    execute(operation, otherwise) {
      const start = performance.now();
      return countSoon(executor.execute(operation) ?? otherwise(operation), start);
    },
    executeByPlan(operation) {
      const start = performance.now();
      const result = executor.execute(operation);
      return result && countSoon(result, start);
    },
  };
}
