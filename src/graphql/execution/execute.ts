import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Context } from '../context.ts';
import { createInputs, type Inputs } from '../inputs.ts';
import { compile, type OperationPlan } from './compile.ts';
import { findConditions } from './conditions.ts';
import { createParts } from './parts.ts';
import type { Execution, Written } from './plan.ts';
import { writeObject } from './write.ts';

/** What is executed. */
export type ExecutedOperation = {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
  readonly rootValue?: unknown;
  readonly contextValue?: unknown;
};

/** The result of an execution. One without errors is written already, and read again only by who asks for its data. */
export type WrittenResult = ExecutionResult & { readonly stringify?: (result: WrittenResult) => string };

/** Executes operations by plans that are made once for each. */
export type Executor = {
  /** @returns `undefined` for an operation that is to be executed as it stands */
  execute(operation: ExecutedOperation): WrittenResult | Promise<WrittenResult> | undefined;
  /** Reads the variables of what is executed again and again. @returns `undefined` as `execute` does */
  prepare(operation: ExecutedOperation): Prepared | undefined;
};

/** An operation of which only the root and the context are still to come. */
export type Prepared = (rootValue: unknown, contextValue: unknown) => WrittenResult | Promise<WrittenResult>;

/** How many fields of plans are kept in all. */
const MAX_FIELDS_IN_ALL = 50_000;

/** Makes an executor, with the plans that it keeps. */
export function createExecutor(inputs: Inputs = createInputs()): Executor {
  const plans = new LRUCache<string, Kept>({
    maxSize: MAX_FIELDS_IN_ALL,
    sizeCalculation: ({ plan }) => 1 + (plan?.size ?? 0),
  });
  const known = new WeakMap<OperationDefinitionNode, Known>();
  const parts = createParts();
  let count = 0;

  function knowledgeOf(document: DocumentNode, operation: OperationDefinitionNode): Known {
    const before = known.get(operation);
    if (before !== undefined) return before;
    const now = { id: `${count++}`, conditions: findConditions(document, operation) };
    known.set(operation, now);
    return now;
  }

  function planOf(
    operation: OperationDefinitionNode,
    { schema, document }: ExecutedOperation,
    variables: VariableValues,
  ) {
    const { id, conditions } = knowledgeOf(document, operation);
    const key = conditions.length === 0 ? id : `${id}:${conditions.map((name) => String(variables.coerced[name]))}`;
    const kept = plans.get(key);
    if (kept !== undefined) return kept.plan;
    const plan = compile({ schema, document, operation, variables, inputs });
    plans.set(key, { plan });
    return plan;
  }

  function prepare(executed: ExecutedOperation): Prepared | undefined {
    const { schema, document, operationName, variableValues } = executed;
    const operation = getOperationAST(document, operationName);
    if (operation == null) return undefined;
    const variables = inputs.variablesOf(schema, operation, variableValues);
    if (variables === undefined) return undefined;
    const plan = planOf(operation, executed, variables);
    const args = plan?.readArguments(variables);
    if (plan === undefined || args === undefined) return undefined;
    return (rootValue, contextValue) =>
      run(plan, rootValue, { context: contextValue as Context, args, errors: [], parts });
  }

  return {
    prepare,
    execute: (executed) => prepare(executed)?.(executed.rootValue, executed.contextValue),
  };
}

type Known = { readonly id: string; readonly conditions: readonly string[] };
type Kept = { readonly plan: OperationPlan | undefined };

function run(
  { root }: OperationPlan,
  rootValue: unknown,
  execution: Execution,
): WrittenResult | Promise<WrittenResult> {
  const { errors } = execution;
  const fail = (error: unknown) => {
    errors.push(error as GraphQLError);
    return resultOf('null', errors);
  };
  let written: Written;
  try {
    written = writeObject(root, rootValue, undefined, execution);
  } catch (error) {
    return fail(error);
  }
  return typeof written === 'string' ? resultOf(written, errors) : written.then((text) => resultOf(text, errors), fail);
}

function resultOf(text: string, errors: readonly GraphQLError[]): WrittenResult {
  if (errors.length > 0) return { errors, data: JSON.parse(text) };
  const result = Object.create(WRITTEN);
  result.text = text;
  return result;
}

type Text = { readonly text: string };

/** What all written results have in common: getters of their own would keep each of them until the oldest garbage is collected. */
const WRITTEN: Pick<WrittenResult, 'data' | 'stringify'> & ThisType<Text> = {
  get data() {
    return JSON.parse(this.text);
  },
  stringify: (result) => `{"data":${(result as Text).text}}`,
};
