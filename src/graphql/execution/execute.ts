import { GraphQLError, locatedError } from 'graphql';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import { withoutStacks } from '../../errors.ts';
import type { SourceStream } from '../../loaders/source-stream.ts';
import type { TakeTurn } from '../../turns/turns.ts';
import type { Context } from '../context.ts';
import { FieldErrors } from './field-errors.ts';
import type { Execution, Written } from './plan.ts';
import type { PlannedOperation } from './planner.ts';
import { startTimeSlice } from './time-slice.ts';
import { writeObject } from './write.ts';
import { finishText, type JsonText, WrittenResult } from './written-result.ts';

/** Executes a planned operation. Its result is JSON already. A long one is written in several turns of the event loop. */
export function executePlan(
  { plan: { root, isCaching }, args }: PlannedOperation,
  rootValue: unknown,
  context: Context,
  takeTurn: TakeTurn,
): MaybePromise<WrittenResult> {
  const errors = new FieldErrors();
  const execution: Execution = { context, args, errors, isCaching, slice: startTimeSlice(takeTurn) };
  const toResult = (text: JsonText) => new WrittenResult(finishText(text), errors.report());
  const fail = (error: unknown) => {
    errors.add(errors.place(error, undefined, undefined));
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

/**
 * Opens the source stream of a subscription: executes the `subscribe` function of its root field.
 *
 * @returns the errors if it cannot be opened
 */
export async function openSourceStream(
  { plan, args }: PlannedOperation,
  context: Context,
): Promise<SourceStream | { readonly errors: readonly GraphQLError[] }> {
  const { fields, failure } = plan.root;
  if (failure !== undefined) return { errors: [failure] };
  const [field] = fields;
  if (field === undefined)
    return { errors: [withoutStacks(() => new GraphQLError('The subscription selects no field.'))] };
  try {
    const coerced = typeof field.args === 'number' ? args[field.args] : field.args;
    if (coerced instanceof Error) throw coerced;
    const stream: unknown = await field.definition.subscribe?.(undefined, coerced ?? {}, context, field.info);
    return stream as SourceStream;
  } catch (error) {
    return { errors: [withoutStacks(() => locatedError(error, field.nodes, [field.name]))] };
  }
}
