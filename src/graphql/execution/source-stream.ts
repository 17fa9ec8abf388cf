import { GraphQLError, locatedError } from 'graphql';
import { withoutStacks } from '../../errors.ts';
import { isSourceStream, type SourceStream } from '../../loaders/source-stream.ts';
import type { Context } from '../context.ts';
import type { PlannedOperation } from './planner.ts';

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
  if (field === undefined) return { errors: [withoutStacks(() => new GraphQLError(NO_FIELD))] };
  try {
    const coerced = typeof field.args === 'number' ? args[field.args] : field.args;
    if (coerced instanceof Error) throw coerced;
    const stream: unknown = await field.subscribe?.(undefined, coerced ?? {}, context, field.info);
    if (typeof stream !== 'object' || stream === null || !isSourceStream(stream))
      throw new Error(`Subscription.${field.property} returned no source stream.`);
    return stream;
  } catch (error) {
    return { errors: [withoutStacks(() => locatedError(error, field.nodes, [field.name]))] };
  }
}

const NO_FIELD = 'The subscription selects no field.';
