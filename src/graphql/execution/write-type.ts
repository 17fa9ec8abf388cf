import {
  type FieldNode,
  GraphQLBoolean,
  GraphQLError,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  type GraphQLInterfaceType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLString,
  type GraphQLUnionType,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import type { Context } from '../context.ts';
import { writeCachedPool } from './cached-pool.ts';
import { FieldErrors } from './field-errors.ts';
import type { Execution, ObjectPlan, Shape, WriteValue } from './plan.ts';
import { listWriter, writeObject } from './write.ts';

/** The field whose values are written. */
type TypeSurroundings = {
  readonly nodes: readonly FieldNode[];
  readonly info: GraphQLResolveInfo;
  /** The plan of the field's selection for objects of a type. */
  readonly planOf: (type: GraphQLObjectType) => ObjectPlan;
  /** Whether the values are entries of a list. */
  readonly isEntry?: boolean;
};

/** Creates the writer of the values of a type. */
export function writerOf(type: GraphQLOutputType, surroundings: TypeSurroundings): WriteValue {
  const { nodes, info } = surroundings;
  const nullable = getNullableType(type);
  const write = isListType(nullable)
    ? listWriter(writerOf(nullable.ofType, { ...surroundings, isEntry: true }), {
        isNullable: !isNonNullType(nullable.ofType),
        nodes,
      })
    : isLeafType(nullable)
      ? leafWriter(nullable)
      : isObjectType(nullable)
        ? objectWriter(nullable, surroundings)
        : abstractWriter(nullable, surroundings);

  return (value, around, key, execution) => {
    if (value instanceof Error) throw value;
    if (value !== null && value !== undefined) return write(value, around, key, execution);
    if (nullable === type) return 'null';
    throw new Error(`Cannot return null for non-nullable field ${info.parentType.name}.${info.fieldName}.`);
  };
}

/** Creates the writer of the objects of a type. */
function objectWriter(type: GraphQLObjectType, { info, planOf, isEntry = false }: TypeSurroundings): WriteValue {
  const plan = planOf(type);
  // A single pool is hardly ever requested again before the next height.
  const isCached = plan.isCacheable && (isEntry || info.parentType !== info.schema.getQueryType());
  const shape = isCached ? plan.shape : undefined;
  return (value, around, key, execution) => {
    const cached =
      shape !== undefined && execution.isCaching ? cachedPool(plan, shape, value as object, execution) : undefined;
    return cached ?? writeObject(plan, value, { around, key }, execution);
  };
}

function cachedPool(plan: ObjectPlan, shape: Shape, value: object, execution: Execution): string | undefined {
  return writeCachedPool(shape, value, execution.context, (context) => writeAtOnce(plan, value, execution, context));
}

/** The text of an object; `undefined` if there is an error or a promise in it. */
function writeAtOnce(plan: ObjectPlan, value: unknown, execution: Execution, context: Context): string | undefined {
  const errors = new FieldErrors();
  try {
    const written = writeObject(plan, value, undefined, { ...execution, context, errors, slice: undefined });
    if (typeof written === 'string') return errors.report() === undefined ? written : undefined;
    // The object is written again for the response, which then reports its errors.
    written.catch(() => {});
    return undefined;
  } catch {
    return undefined;
  }
}

/** Creates the writer of the objects of an interface or union. */
function abstractWriter(type: GraphQLInterfaceType | GraphQLUnionType, { info, planOf }: TypeSurroundings): WriteValue {
  const plans = new Map(info.schema.getPossibleTypes(type).map((possible) => [possible.name, planOf(possible)]));

  return (value, around, key, execution) => {
    const name = type.resolveType?.(value, execution.context, info, type);
    const plan = plans.get(String(name));
    if (plan === undefined) throw new Error(`${type.name} resolved to ${name}, which it cannot be.`);
    return writeObject(plan, value, { around, key }, execution);
  };
}

const writeText: Quick = (value) => (typeof value === 'string' ? JSON.stringify(value) : undefined);

/** Writers of the values of built-in scalars that need no coercion. */
const QUICK: ReadonlyMap<unknown, Quick> = new Map<GraphQLLeafType, Quick>([
  [GraphQLString, writeText],
  [GraphQLID, writeText],
  [GraphQLInt, (value) => (typeof value === 'number' && (value | 0) === value ? `${value}` : undefined)],
  [GraphQLFloat, (value) => (typeof value === 'number' && Number.isFinite(value) ? `${value}` : undefined)],
  [GraphQLBoolean, (value) => (typeof value === 'boolean' ? `${value}` : undefined)],
]);

type Quick = (value: unknown) => string | undefined;

const writePlainText: Quick = (value) =>
  typeof value === 'string' || typeof value === 'bigint' ? `"${value}"` : undefined;

/** Creates the writer of the values of a scalar or enum. Most need no coercion. */
function leafWriter(type: GraphQLLeafType): WriteValue {
  const writeQuickly = type.extensions['isPlainText'] === true ? writePlainText : QUICK.get(type);
  return (value) => {
    const text = writeQuickly?.(value);
    if (text !== undefined) return text;
    const serialized = serialize(type, value);
    if (serialized == null) throw new Error(`A value of ${type.name} is null after coercion.`);
    return JSON.stringify(serialized);
  };
}

/** Coerces a value. The error of a value that the scalar cannot represent is an internal error, whose message is for the log. */
function serialize(type: GraphQLLeafType, value: unknown): unknown {
  try {
    return type.coerceOutputValue(value);
  } catch (error) {
    throw error instanceof GraphQLError ? new Error(error.message) : error;
  }
}
