import type { ExecutionResult, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Context } from '../../graphql/context.ts';
import type { Operation } from '../../graphql/cost.ts';
import type { Executor } from '../../graphql/execution/execute.ts';
import type { Admission } from '../clients/admission.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { outcomeOf } from '../updates/made-update.ts';

/** What decides of operations, executes and counts them. */
export type ExecutionOptions = {
  readonly admission: Admission;
  readonly executor: Executor;
  readonly metrics: Metrics;
};

/**
 * Refuses operations that ask for too much, and executes queries: by plans, those that have one, the others as Yoga does.
 *
 * The limits are no validation rule: Yoga keeps the outcome of validation by document, whatever the variables and the
 * operation selected. All this is one hook, because each takes a share of a small query.
 */
export function useExecution({ admission, executor, metrics }: ExecutionOptions): Plugin<Context> {
  /** @returns whether the operation may be executed */
  function admit(operation: Operation, refuse: (result: { errors: [GraphQLError] }) => void): boolean {
    const refusal = admission.refusalOf(operation);
    if (refusal === undefined) return true;

    // What is over a rate is counted by itself, on every door.
    if (refusal.extensions['code'] !== 'RATE_LIMITED') metrics.refusedOperation();
    refuse({ errors: [refusal] });
    return false;
  }

  return {
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      if (!admit(args, setResultAndStopExecution)) return;

      setExecuteFn((given) => {
        const start = performance.now();
        const count = (result: ExecutionResult) => {
          metrics.executed('query', outcomeOf(result), (performance.now() - start) / 1_000);
          return result;
        };
        const result = executor.execute(given) ?? executeFn(given);
        return result instanceof Promise ? result.then(count) : count(result as ExecutionResult);
      });
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      admit(args, setResultAndStopExecution);
    },
  };
}
