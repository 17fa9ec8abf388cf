import { type GraphQLField, type GraphQLFieldResolver, type GraphQLSchema, isObjectType } from 'graphql';
import { BadUserInputError } from '../errors.ts';

/** A field, whatever its object and its context are. */
type AnyField = Pick<GraphQLField<unknown, never>, 'extensions'>;
type Arguments = Readonly<Record<string, unknown>>;

/**
 * Finds what is wrong with the arguments of a field: a value that its scalar could not read, or one that the field refuses.
 *
 * A scalar that throws fails the whole operation before it starts. Ours return the error as the value instead, and only the
 * field that the value was meant for fails. A field declares in its extensions which other values it refuses, see
 * {@link refusing}. Both are known once the arguments are read, so they are checked once, not for each object of a list.
 */
export function findBadInput(field: AnyField, args: Arguments): Error | undefined {
  return findBadScalar(args) ?? findRefused(field, args);
}

/** The extensions of a field that refuses some arguments. @param check throws BadUserInputError for those */
export function refusing(check: (args: never) => unknown): { readonly refuse: (args: never) => unknown } {
  return { refuse: check };
}

function findRefused({ extensions: { refuse } }: AnyField, args: Arguments): Error | undefined {
  if (refuse === undefined) return undefined;
  try {
    (refuse as (args: Arguments) => unknown)(args);
    return undefined;
  } catch (error) {
    if (error instanceof BadUserInputError) return error;
    throw error;
  }
}

function findBadScalar(value: unknown): BadUserInputError | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof BadUserInputError) return value;
  for (const name in value) {
    const badInput = findBadScalar((value as Arguments)[name]);
    if (badInput !== undefined) return badInput;
  }
  return undefined;
}

type Resolver = GraphQLFieldResolver<unknown, never>;

const unchecked = new WeakMap<Resolver, Resolver>();

/** Makes fields throw what is wrong with their arguments, whoever executes them. */
export function throwBadInputWhereItIsUsed(schema: GraphQLSchema): GraphQLSchema {
  const fields = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()))
    .filter((field) => field.args.length > 0);

  for (const field of fields) {
    const { resolve, subscribe } = field;
    const requireGood = <Args>(args: Args): Args => {
      const badInput = findBadInput(field, args as Arguments);
      if (badInput !== undefined) throw badInput;
      return args;
    };
    // The updates of a subscription come with the arguments that it began with.
    if (resolve && !subscribe) {
      field.resolve = (root, args, context, info) => resolve(root, requireGood(args), context, info);
      unchecked.set(field.resolve, resolve);
    }
    if (subscribe) field.subscribe = (root, args, context, info) => subscribe(root, requireGood(args), context, info);
  }
  return schema;
}

/** The resolver of a field without the check of its arguments, for whoever has checked them once for all objects. */
export function resolverOf<Context>(
  field: GraphQLField<unknown, Context>,
): GraphQLFieldResolver<unknown, Context> | undefined {
  const { resolve } = field;
  return resolve && ((unchecked.get(resolve as Resolver) as typeof resolve | undefined) ?? resolve);
}
