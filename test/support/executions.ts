import { type DocumentNode, type ExecutionResult, execute, type GraphQLSchema, validate } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { expect } from 'vitest';
import { createExecutor, type ExecutedOperation } from '../../src/graphql/execution/execute.ts';

/** What one execution gave, as text: data byte for byte, and each error with what was thrown. */
type Told = { readonly data: string; readonly errors: readonly object[] };

/** Executes the same by plan, as Yoga does, and as graphql-js does. */
export type Executions = {
  /**
   * Expects the same errors in the same order from the plan as from Yoga, and the same bytes of data as from graphql-js:
   * Yoga itself puts what it waited for behind the rest, so its data is compared by its values.
   */
  expectSame(operation: Omit<ExecutedOperation, 'schema' | 'contextValue'>): Promise<void>;
  /** Whether an operation is executed by a plan. */
  hasPlan(operation: Omit<ExecutedOperation, 'schema' | 'contextValue'>): Promise<boolean>;
};

/** Makes the comparison for a schema; each execution gets a context of its own. */
export function createExecutions(schema: GraphQLSchema, createContext: () => object): Executions {
  const executor = createExecutor();
  const yoga = createYoga({ schema, maskedErrors: false, logging: false });
  const { execute: executeAsYoga } = yoga.getEnveloped();

  const argsOf = (operation: Omit<ExecutedOperation, 'schema' | 'contextValue'>) => ({
    ...operation,
    schema,
    contextValue: createContext(),
  });

  return {
    async expectSame(operation) {
      expectValid(schema, operation.document);
      const [planned, ordinary, reference] = await Promise.all([
        executor.execute(argsOf(operation)),
        executeAsYoga(argsOf(operation) as never) as ExecutionResult,
        execute(argsOf(operation) as never),
      ]);
      if (planned === undefined) throw new Error('this operation has no plan');

      const [told, asYoga] = [tell(planned), tell(ordinary)];
      expect(told.errors).toEqual(asYoga.errors);
      expect(JSON.parse(told.data)).toEqual(JSON.parse(asYoga.data));
      expect(told.data).toBe(tell(reference).data);
      if (planned.stringify !== undefined) expect(planned.stringify(planned)).toBe(JSON.stringify(reference));
    },
    hasPlan: async (operation) => (await executor.execute(argsOf(operation))) !== undefined,
  };
}

function expectValid(schema: GraphQLSchema, document: DocumentNode): void {
  expect(validate(schema, document)).toEqual([]);
}

function tell({ data, errors = [] }: ExecutionResult): Told {
  return {
    data: JSON.stringify(data),
    errors: errors.map((error) => ({ ...error.toJSON(), thrown: error.originalError })),
  };
}
