import { type GraphQLSchema, isObjectType } from 'graphql';
import { BadUserInputError } from '../errors.ts';

/**
 * Makes fields throw what their scalars could not read.
 *
 * A scalar that throws fails the whole operation before it starts. Ours hand the error on as the value instead, and the
 * field that the value was meant for throws it: so one bad id or height costs its own field, and the rest of the answer
 * is whole.
 */
export function throwBadInputWhereItIsUsed(schema: GraphQLSchema): GraphQLSchema {
  const fields = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) => Object.values(type.getFields()))
    .filter((field) => field.args.length > 0);

  for (const field of fields) {
    const { resolve, subscribe } = field;
    // The updates of a subscription come with the arguments that it began with.
    if (resolve && !subscribe)
      field.resolve = (root, args, context, info) => resolve(root, requireGood(args), context, info);
    if (subscribe) field.subscribe = (root, args, context, info) => subscribe(root, requireGood(args), context, info);
  }
  return schema;
}

function requireGood<Args>(args: Args): Args {
  const badInput = findBadInput(args);
  if (badInput !== undefined) throw badInput;
  return args;
}

function findBadInput(value: unknown): BadUserInputError | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof BadUserInputError) return value;
  // Called for each field with arguments of each object of an answer: a list of the values would be dear.
  for (const name in value) {
    const badInput = findBadInput((value as Readonly<Record<string, unknown>>)[name]);
    if (badInput !== undefined) return badInput;
  }
  return undefined;
}
