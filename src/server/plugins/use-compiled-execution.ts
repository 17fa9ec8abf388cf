import type { Plugin } from 'graphql-yoga';
import type { Context } from '../../graphql/context.ts';
import type { Executor } from '../../graphql/execution/execute.ts';

/** Executes queries by plans, those that have one; the others as Yoga does. */
export function useCompiledExecution(executor: Executor): Plugin<Context> {
  return {
    onExecute({ executeFn, setExecuteFn }) {
      setExecuteFn((args) => executor.execute(args) ?? executeFn(args));
    },
  };
}
