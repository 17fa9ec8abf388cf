import type { Plugin } from 'graphql-yoga';
import type { Context } from '../../graphql/context.ts';
import type { Operation } from '../../graphql/cost.ts';
import type { QueryExecution } from '../operations/run.ts';

/**
 * Refuses operations that ask for too much, and executes queries by their plans.
 *
 * The limits are no validation rule: what they count depends on the variables and on the operation that is selected. All
 * this is one hook, because each takes a share of a small query.
 */
export function useExecution(queries: QueryExecution): Plugin<Context> {
  return {
    onExecute({ setExecuteFn }) {
      setExecuteFn((args) => queries.run(args as Operation));
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const refusal = queries.refusalOf(args);
      if (refusal !== undefined) setResultAndStopExecution({ errors: [refusal] });
    },
  };
}
