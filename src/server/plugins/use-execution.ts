import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Context } from '../../graphql/context.ts';
import type { Soon } from '../../soon.ts';
import type { QueryExecution } from '../query-execution.ts';

/**
 * Refuses operations that ask for too much, and executes queries: by plans, those that have one, the others as Yoga does.
 *
 * The limits are no validation rule: Yoga keeps the outcome of validation by document, whatever the variables and the
 * operation selected. All this is one hook, because each takes a share of a small query.
 */
export function useExecution(queries: QueryExecution): Plugin<Context> {
  return {
    onExecute({ args, executeFn, setExecuteFn, setResultAndStopExecution }) {
      const refusal = queries.refusalOf(args);
      if (refusal === undefined) setExecuteFn((given) => queries.execute(given, executeFn as Otherwise));
      else setResultAndStopExecution({ errors: [refusal] });
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const refusal = queries.refusalOf(args);
      if (refusal !== undefined) setResultAndStopExecution({ errors: [refusal] });
    },
  };
}

/** What Yoga executes with, whose type leaves open what it gives. */
type Otherwise = (operation: unknown) => Soon<ExecutionResult>;
