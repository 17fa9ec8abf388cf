import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DocumentNode, execute, type GraphQLError, type GraphQLSchema, isObjectType, validate } from 'graphql';
import { expect } from 'vitest';
import type { MaybePromise } from '../../src/domain/maybe-promise.ts';
import { MAX_ERRORS } from '../../src/errors.ts';
import type { Context } from '../../src/graphql/context.ts';
import { findBadInput } from '../../src/graphql/execution/arguments.ts';
import { executePlan } from '../../src/graphql/execution/execute.ts';
import { createPlanner, createValidDocument } from '../../src/graphql/execution/planner.ts';
import { toWholeText, WrittenResult } from '../../src/graphql/execution/written-result.ts';
import { DEFAULT_LIMITS } from './limits.ts';

/** An operation, as `execute` of graphql-js takes it. */
export type ExecutedOperation = {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
  readonly rootValue?: unknown;
  readonly contextValue?: unknown;
};

const NO_LIMITS = { ...DEFAULT_LIMITS, maxDepth: 1_000, maxNesting: 1_000, maxSiblings: 10_000 };

/** Creates what executes operations by their plans, which it keeps. */
export function createPlannedExecution(schema: GraphQLSchema) {
  const planner = createPlanner({ schema, limits: NO_LIMITS });
  const documents = new Map<DocumentNode, ReturnType<typeof createValidDocument>>();

  return ({ document, operationName, variableValues, rootValue, contextValue }: Omit<ExecutedOperation, 'schema'>) => {
    const valid = documents.get(document) ?? createValidDocument(document);
    documents.set(document, valid);
    const operation = valid.operation(operationName);
    if (operation === undefined) throw new Error('The document has no such operation.');
    const planned = planner.plan(operation, variableValues);
    if (planned.plan === undefined) return new WrittenResult(undefined, planned.errors);
    return executePlan(planned, rootValue, contextValue as Context, () => nextTurn());
  };
}

/** Executes one operation by its plan. */
export function executePlanned(operation: ExecutedOperation): MaybePromise<WrittenResult> {
  return createPlannedExecution(operation.schema)(operation);
}

/** What one execution gave, as text: data byte for byte, and each error with what was thrown. */
type Told = { readonly data: string; readonly errors: readonly object[] };

/** Executes the same by plan and as graphql-js does. */
export type Executions = {
  /** Expects the same errors from the plan as from graphql-js, as far as they are reported, and the same bytes of data. */
  expectSame(operation: Omit<ExecutedOperation, 'schema' | 'contextValue'>): Promise<void>;
  /** Expects that nothing is executed, for the same reasons as in graphql-js. */
  expectSameRefusal(operation: Omit<ExecutedOperation, 'schema' | 'contextValue'>): Promise<void>;
};

/** Makes the comparison for a schema; each execution gets a context of its own. */
export function createExecutions(schema: GraphQLSchema, createContext: () => object): Executions {
  throwBadInput(schema);
  const executeByPlan = createPlannedExecution(schema);

  const argsOf = (operation: Omit<ExecutedOperation, 'schema' | 'contextValue'>) => ({
    ...operation,
    schema,
    contextValue: createContext(),
  });

  return {
    async expectSame(operation) {
      expectValid(schema, operation.document);
      const [planned, reference] = await Promise.all([
        executeByPlan(argsOf(operation)),
        execute(argsOf(operation) as never),
      ]);

      const [told, expected] = [
        tell(toWholeText(planned.text ?? ''), planned.errors),
        tell(JSON.stringify(reference.data), reference.errors),
      ];
      expectSameErrors(told.errors, expected.errors);
      expect(told.data).toBe(expected.data);
      if (planned.errors === undefined) expect(planned.toText()).toBe(JSON.stringify(reference));
    },
    async expectSameRefusal(operation) {
      const [planned, reference] = await Promise.all([
        executeByPlan(argsOf(operation)),
        execute(argsOf(operation) as never),
      ]);
      const messages = reference.errors?.map(({ message }) => message);
      expect(messages?.length).toBeGreaterThan(0);
      expect([planned.text, planned.errors?.map(({ message }) => message)]).toEqual([undefined, messages]);
    },
  };
}

/** Of fields that are waited for side by side, nobody says whose error comes first. */
function expectSameErrors(errors: readonly object[], expected: readonly object[]): void {
  const more = expected.length - MAX_ERRORS;
  if (more <= 0) {
    expect(errors.map(toText).sort()).toEqual(expected.map(toText).sort());
    return;
  }
  expect(new Set(expected.map(toText))).toEqual(new Set([...expected, ...errors.slice(0, MAX_ERRORS)].map(toText)));
  expect(errors.slice(MAX_ERRORS)).toMatchObject([{ message: expect.stringMatching(`^${more} more errors? `) }]);
}

const toText = (error: object) => JSON.stringify(error);

function expectValid(schema: GraphQLSchema, document: DocumentNode): void {
  expect(validate(schema, document)).toEqual([]);
}

function tell(data: string, errors: readonly GraphQLError[] = []): Told {
  return {
    data,
    errors: errors.map((error) => ({ ...error.toJSON(), thrown: error.originalError?.message })),
  };
}

/** Makes the fields of a schema throw the errors in their arguments. By a plan they never see these arguments. */
function throwBadInput(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    for (const field of Object.values(type.getFields())) {
      const { resolve } = field;
      if (resolve === undefined || field.args.length === 0) continue;
      field.resolve = (root, args, context, info) => {
        const badInput = findBadInput(field, args);
        if (badInput !== undefined) throw badInput;
        return resolve(root, args, context, info);
      };
    }
  }
}
