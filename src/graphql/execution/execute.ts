import {
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
  type VariableValues,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { QueryTooComplexError } from '../../errors.ts';
import type { MaybePromise } from '../../maybe-promise.ts';
import type { Context } from '../context.ts';
import { placeError } from '../errors.ts';
import { createInputs, type Inputs } from '../inputs.ts';
import { compile, MAX_FIELDS, type OperationPlan } from './compile.ts';
import { findConditions } from './conditions.ts';
import { addFieldError, createFieldErrors, hasNone, placeFieldError, reportErrors } from './field-errors.ts';
import type { Execution, Written } from './plan.ts';
import { nextTurn, startTimeSlice, type TakeTurn } from './time-slice.ts';
import { writeObject } from './write.ts';
import { WrittenResult } from './written-result.ts';

/** What is executed. */
export type ExecutedOperation = {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operationName?: string | null | undefined;
  readonly variableValues?: Readonly<Record<string, unknown>> | null | undefined;
  readonly rootValue?: unknown;
  readonly contextValue?: unknown;
};

/** Executes operations by plans that are made once for each. */
export type Executor = {
  execute(operation: ExecutedOperation): MaybePromise<WrittenResult>;
  /** Reads the variables of what is executed again and again. */
  prepare(operation: ExecutedOperation): Prepared;
};

/** An operation of which only the root and the context are still to come. */
export type Prepared = (rootValue: unknown, contextValue: unknown) => MaybePromise<WrittenResult>;

/** How many fields of plans are kept in all. */
const MAX_FIELDS_IN_ALL = 50_000;

/** What an executor is made of. */
export type ExecutorOptions = { readonly inputs?: Inputs; readonly takeTurn?: TakeTurn };

/** The operations of longer documents are planned and executed in several turns of the event loop. */
const MAX_TOKENS_AT_ONCE = 1_000;

/** Makes an executor, with the plans that it keeps. */
export function createExecutor({ inputs = createInputs(), takeTurn = nextTurn }: ExecutorOptions = {}): Executor {
  const plans = new LRUCache<string, Kept>({
    maxSize: MAX_FIELDS_IN_ALL,
    sizeCalculation: ({ plan }) => 1 + (plan?.size ?? 0),
  });
  const known = new WeakMap<OperationDefinitionNode, Known>();
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

  function prepare(executed: ExecutedOperation): Prepared {
    const { schema, document, operationName, variableValues } = executed;
    const operation = getOperationAST(document, operationName);
    if (operation == null) return failing(noOperation);
    const { variableValues: variables, errors } = inputs.variablesOf(schema, operation, variableValues);
    if (variables === undefined) return failing(() => errors);
    const plan = planOf(operation, executed, variables);
    if (plan === undefined) return failing(tooLarge);
    const args = plan.readArguments(variables);
    return (rootValue, contextValue) => {
      const execution = {
        context: contextValue as Context,
        args,
        errors: createFieldErrors(),
        slice: startTimeSlice(takeTurn),
      };
      return run(plan, rootValue, execution);
    };
  }

  /** Planning a long document takes a turn of the event loop of its own. */
  async function executeLater(executed: ExecutedOperation): Promise<WrittenResult> {
    await takeTurn();
    const run = prepare(executed);
    await takeTurn();
    return run(executed.rootValue, executed.contextValue);
  }

  return {
    prepare,
    execute: (executed) =>
      (executed.document.tokenCount ?? 0) > MAX_TOKENS_AT_ONCE
        ? executeLater(executed)
        : prepare(executed)(executed.rootValue, executed.contextValue),
  };
}

type Known = { readonly id: string; readonly conditions: readonly string[] };
type Kept = { readonly plan: OperationPlan | undefined };

function run({ root }: OperationPlan, rootValue: unknown, execution: Execution): MaybePromise<WrittenResult> {
  const { errors } = execution;
  const toResult = (text: string) =>
    hasNone(errors) ? new WrittenResult(text) : new WrittenResult(text, reportErrors(errors));
  const fail = (error: unknown) => {
    addFieldError(errors, placeFieldError(errors, error, undefined, undefined));
    return toResult('null');
  };
  let written: Written;
  try {
    written = writeObject(root, rootValue, undefined, execution);
  } catch (error) {
    return fail(error);
  }
  return typeof written === 'string' ? toResult(written) : written.then(toResult, fail);
}

/** An operation that cannot be executed, with why. */
function failing(errors: () => readonly GraphQLError[]): Prepared {
  return () => new WrittenResult(undefined, errors());
}

/** An operation is named that the document does not have, or none of several is. */
function noOperation(): readonly GraphQLError[] {
  const extensions = { code: 'BAD_USER_INPUT', http: { status: 400 } };
  return [placeError('Could not determine what operation to execute.', undefined, extensions)];
}

function tooLarge(): readonly GraphQLError[] {
  const { message, code } = new QueryTooComplexError(
    `The operation selects more than ${MAX_FIELDS} fields, counting the fields of a fragment each time it is used.`,
  );
  return [placeError(message, undefined, { code, http: { status: 400, spec: true } })];
}
