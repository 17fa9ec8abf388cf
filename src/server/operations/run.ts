import type { GraphQLError } from 'graphql';
import type { Operation } from '../../graphql/cost.ts';
import { maskErrors } from '../../graphql/errors.ts';
import type { ExecutedOperation, Executor } from '../../graphql/execution/execute.ts';
import { type ResultExtensions, WrittenResult } from '../../graphql/execution/written-result.ts';
import { andThen, type MaybePromise } from '../../maybe-promise.ts';
import { wantsCost } from '../http/cost-header.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Admission, ChargedCost } from './admission.ts';
import { outcomeOf } from './encoded-update.ts';

/** What every query goes through once it has a context, by whichever door it comes: limits, its plan, a count. */
export type QueryExecution = {
  /** @returns why an operation is not executed, where it asks for too much: it counts as refused then */
  refusalOf(operation: Operation): GraphQLError | undefined;
  /** Executes a query unless it is refused, and counts it. Its errors are as clients get them. */
  run(operation: Operation): MaybePromise<WrittenResult>;
};

/** What decides of operations, executes and counts them. */
export type QueryExecutionOptions = {
  readonly admission: Admission;
  readonly executor: Executor;
  readonly metrics: Metrics;
  /** The one border that errors cross. */
  readonly maskError: (error: unknown) => GraphQLError;
};

/** Makes what queries go through. */
export function createQueryExecution(options: QueryExecutionOptions): QueryExecution {
  const { admission, executor, metrics, maskError } = options;

  function refusalOf(operation: Operation): GraphQLError | undefined {
    const refusal = admission.refusalOf(operation);
    // What is over a rate is counted by itself, on every door.
    if (refusal !== undefined && refusal.extensions['code'] !== 'RATE_LIMITED') metrics.recordRefusedOperation();
    return refusal;
  }

  function execute(
    operation: ExecutedOperation & Operation,
    extensions: ResultExtensions | undefined,
  ): MaybePromise<WrittenResult> {
    const start = performance.now();
    return andThen(executor.execute(operation), (result) => {
      metrics.recordOperation('query', outcomeOf(result), (performance.now() - start) / 1_000);
      if (result.errors !== undefined) admission.chargeErrors(operation.contextValue, result.errors.length);
      const masked = maskErrors(result, maskError);
      return extensions === undefined ? masked : new WrittenResult(masked.text, masked.errors, extensions);
    });
  }

  return {
    refusalOf,
    run(operation) {
      const refusal = refusalOf(operation);
      // Before the execution: lists can have other lengths after it.
      const extensions = wantsCost(operation.contextValue) ? toExtensions(admission.costOf(operation)) : undefined;
      if (refusal !== undefined) return new WrittenResult(undefined, [refusal], extensions);
      return execute(operation, extensions);
    },
  };
}

/** The cost of an operation as its client gets it. */
function toExtensions(cost: ChargedCost | undefined): ResultExtensions | undefined {
  if (cost === undefined) return undefined;
  const { points, complexity, values } = cost;
  return { cost: { points, complexity: Math.round(complexity * 100) / 100, values: Math.round(values) } };
}
