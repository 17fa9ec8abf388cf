import type { GraphQLFieldResolver } from 'graphql';
import { type Complexity, EARLIER_HEIGHT } from './complexity.ts';
import type { Service } from './context.ts';
import { type Arguments, countValues } from './execution/arguments.ts';
import type { FieldPlan, ObjectPlan, OperationPlan } from './execution/plan.ts';
import { ASSUMED_LIST_SIZE, type Limits, requireAtMost, VALUE } from './limits.ts';

/** The estimated size of the response to an operation. */
export type OperationCost = {
  /** Objects, where a value counts as {@link VALUE}. */
  readonly objects: number;
  /** Objects of the schema, for introspection. */
  readonly schemaObjects: number;
  /** Values, by the current lengths of lists where these are known. Those of the schema are counted as they are. */
  readonly values: number;
  /** Beacon heights that the arguments name. */
  readonly heights: number;
};

/** The complexity of an operation: what a rate limit charges, in points. */
export function complexityOf({ objects, schemaObjects }: OperationCost): number {
  return objects + schemaObjects * VALUE;
}

/** Estimates the response to an operation with these arguments, before it is executed. Only resolvers of introspection are called. */
export function measureCost(plan: OperationPlan, args: readonly Arguments[], service: Service): OperationCost {
  const measurement: Measurement = { args, service, heights: new Set(), schemaFields: 0 };
  const { objects, objectsPerEntry, schemaObjects, values, valuesPerEntry } = costOfObject(plan.root, measurement);
  const { heights } = measurement;
  return {
    objects: objects + objectsPerEntry * ASSUMED_LIST_SIZE + workOfHeights(heights, service),
    schemaObjects,
    values: values + valuesPerEntry * ASSUMED_LIST_SIZE,
    heights: heights.size,
  };
}

/** The work to read the states at the heights that an operation names. Those of the last heads are in memory. */
function workOfHeights(heights: ReadonlySet<number>, { sources }: Service): number {
  if (heights.size === 0) return 0;
  const recent = new Set(sources.head.recent().map(({ beaconHeight }) => beaconHeight));
  return heights.difference(recent).size * EARLIER_HEIGHT;
}

/** The cost of variables by themselves: coercing them, and reporting the errors of those that do not fit their types. */
export function costOfVariables(variables: unknown): OperationCost {
  return { objects: countValues(variables) * VALUE, schemaObjects: 0, values: 0, heights: 0 };
}

/** Checks the cost of an operation. @throws QueryTooComplexError */
export function requireWithinLimits(cost: OperationCost, limits: Limits): void {
  requireAtMost(limits.maxComplexity, cost.objects, 'The complexity of the operation');
  requireAtMost(limits.maxValues, cost.values, 'The estimated number of values in the response');
  requireAtMost(limits.maxSchemaObjects, cost.schemaObjects, 'The estimated number of schema objects in the response');
  requireAtMost(
    limits.maxHeightsPerOperation,
    cost.heights,
    'The number of beacon heights in addition to the current one',
  );
}

/** One measurement of an operation. */
type Measurement = {
  readonly args: readonly Arguments[];
  readonly service: Service;
  /** Collects the heights that arguments name. */
  readonly heights: Set<number>;
  /** How many fields of the schema were counted. */
  schemaFields: number;
};

/** The estimated size of one object, for one selection. */
type SelectionCost = Omit<OperationCost, 'heights'> & {
  /**
   * Objects for one entry of the lists in the selection. The parent field may know how many entries they have, so
   * {@link objects} does not contain them.
   */
  readonly objectsPerEntry: number;
  /** Objects to add to {@link objects}, unless the field that returns this object has read them already. */
  readonly objectsUnlessRead: number;
  /** Values for one entry of such lists. {@link values} does not contain them. */
  readonly valuesPerEntry: number;
};

const NOTHING: SelectionCost = {
  objects: 0,
  objectsPerEntry: 0,
  objectsUnlessRead: 0,
  schemaObjects: 0,
  values: 0,
  valuesPerEntry: 0,
};

/** Introspection: a list of the schema counts as this many objects. */
const ASSUMED_SCHEMA_LIST_SIZE = 8;

function costOfObject({ fields }: ObjectPlan, measurement: Measurement): SelectionCost {
  let sum = NOTHING;
  for (const field of fields) sum = combine(sum, costOfField(field, measurement), (x, y) => x + y);
  return sum;
}

function argumentsOf({ args }: FieldPlan, measurement: Measurement): Arguments | Error | undefined {
  return typeof args === 'number' ? measurement.args[args] : args;
}

function costOfField(field: FieldPlan, measurement: Measurement): SelectionCost {
  const args = argumentsOf(field, measurement);
  // The field fails before anything in it is executed. The response contains null.
  if (args === undefined || args instanceof Error)
    return { ...NOTHING, objects: (1 + valuesIn(field, {})) * VALUE, values: 1 };

  const sentValues = valuesIn(field, args);
  for (const height of field.findHeights?.(args) ?? []) measurement.heights.add(height);
  let inside = NOTHING;
  // An object that can have several types costs at most the maximum of each.
  for (const plan of field.selections) inside = combine(inside, costOfObject(plan, measurement), Math.max);
  const { complexity } = field;
  const own = typeof complexity === 'function' ? complexity(args, { service: measurement.service }) : complexity;
  const cost = costOfValue(field, own, inside, sentValues);
  // Only these two fields lead into the schema.
  const isEntry = field.definition.name === '__schema' || field.definition.name === '__type';
  return isEntry ? { ...cost, values: valuesOfSchema(field, measurement) } : cost;
}

/** How many fields of the schema are counted for one operation. The introspection with all options has 6,000. */
const MAX_SCHEMA_FIELDS = 20_000;

/**
 * The values of a field that leads into the schema. Its texts count by their lengths, as those that a client sends. The lists and texts
 * of the schema differ too much for an estimate. An operation with more fields than {@link MAX_SCHEMA_FIELDS} is refused.
 */
function valuesOfSchema(entry: FieldPlan, measurement: Measurement): number {
  const { maxValues } = measurement.service.limits;
  // Each object of the schema is counted once for each selection, though a response can contain it thousands of times.
  const known = new Map<ObjectPlan, Map<unknown, number>>();

  function ofField(field: FieldPlan, parent: unknown): number {
    const args = argumentsOf(field, measurement);
    measurement.schemaFields += 1;
    if (measurement.schemaFields > MAX_SCHEMA_FIELDS) return maxValues;
    if (args === undefined || args instanceof Error || field.write === undefined) return 1;
    const resolve = field.definition.resolve as GraphQLFieldResolver<unknown, unknown> | undefined;
    return 1 + valuesIn(field, args) + ofValue(field, resolve?.(parent, args, undefined, field.info));
  }

  function ofValue(field: FieldPlan, value: unknown): number {
    if (Array.isArray(value)) return value.reduce<number>((sum, entry) => sum + 1 + ofValue(field, entry), 0);
    const [plan] = field.selections;
    if (plan === undefined || value == null) return countValues(value);
    const counts = known.get(plan) ?? new Map<unknown, number>();
    known.set(plan, counts);
    const count = counts.get(value) ?? plan.fields.reduce((sum, each) => sum + ofField(each, value), 0);
    counts.set(value, count);
    return count;
  }

  return ofField(entry, undefined);
}

/** The number of values that a client sends with a field: its arguments and its alias, which the response repeats. */
function valuesIn({ name, definition }: FieldPlan, args: Arguments): number {
  return countValues(args) + (name === definition.name ? 0 : countValues(name));
}

/** The cost of a field whose value has that selection. */
function costOfValue(
  { isOfSchema }: FieldPlan,
  complexity: Complexity,
  inside: SelectionCost,
  sentValues: number,
): SelectionCost {
  const { field, multiplier, entries = ASSUMED_LIST_SIZE, actual = multiplier, values: own = 1 } = complexity;
  const { isList = false, unlessRead = 0, hasRead = false } = complexity;
  if (isOfSchema) {
    const each = field + inside.objects + inside.objectsPerEntry * ASSUMED_SCHEMA_LIST_SIZE + inside.schemaObjects;
    return { ...NOTHING, schemaObjects: each * (isList ? ASSUMED_SCHEMA_LIST_SIZE : 1) + sentValues * VALUE };
  }
  const each = inside.objects + (hasRead ? 0 : inside.objectsUnlessRead);
  const objects = field + multiplier * (each + entries * inside.objectsPerEntry);
  const values = inside.values + entries * inside.valuesPerEntry;
  const isOpen = isList && complexity.actual === undefined;
  return {
    objects: sentValues * VALUE + (isList ? 0 : objects),
    objectsPerEntry: isList ? objects : 0,
    objectsUnlessRead: unlessRead,
    schemaObjects: inside.schemaObjects,
    values: isOpen ? own : own + actual * values,
    valuesPerEntry: isOpen ? values : 0,
  };
}

function combine(a: SelectionCost, b: SelectionCost, of: (x: number, y: number) => number): SelectionCost {
  if (a === NOTHING) return b;
  return {
    objects: of(a.objects, b.objects),
    objectsPerEntry: of(a.objectsPerEntry, b.objectsPerEntry),
    objectsUnlessRead: of(a.objectsUnlessRead, b.objectsUnlessRead),
    schemaObjects: of(a.schemaObjects, b.schemaObjects),
    values: of(a.values, b.values),
    valuesPerEntry: of(a.valuesPerEntry, b.valuesPerEntry),
  };
}
