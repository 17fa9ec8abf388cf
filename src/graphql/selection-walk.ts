import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';
import { ASSUMED_LIST_SIZE, type Complexity, estimateField, estimateObjects, VALUE } from './complexity.ts';
import { namedHeights } from './heights.ts';
import { countValues, isIncluded } from './input-values.ts';
import type { Inputs } from './inputs.ts';
import { type Limits, requireAtMost } from './limits.ts';
import { add, NOTHING, type SelectionCost } from './selection-cost.ts';

/** What selections cost whatever the variables and the moment, of documents that are asked again. */
export type FixedCosts = WeakMap<SelectionSetNode, Map<GraphQLNamedType, SelectionCost>>;

/** What selections cost, for each type that they are made of. */
type Costs = Pick<FixedCosts, 'get' | 'set'>;

/** How many objects a list of the schema counts as. */
const ASSUMED_SCHEMA_LIST_SIZE = 8;

/** Measures a selection of a type. @throws QueryTooComplexError */
export type Walk = (set: SelectionSetNode, type: GraphQLNamedType, nesting?: number) => SelectionCost;

/** The operation whose selections are measured. */
export type Walked = {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly contextValue: object;
};

/** What operations are measured with. */
export type Means = {
  readonly limits: Limits;
  readonly inputs: Inputs;
  /** Gets what costs the same in each operation of the document. */
  readonly fixed: FixedCosts;
};

/** What one operation is measured with; `heights` gets those that it names. */
type WalkOptions = Means & { readonly heights: Set<number> };

/**
 * Makes the measuring of the selections of one operation. Each is measured once, so fragments that multiply are not slow to
 * measure. A field whose arguments cannot be read fails alone, and the others still count.
 */
export function createWalk(
  { schema, document, contextValue }: Walked,
  variables: VariableValues,
  { limits, inputs, heights, fixed }: WalkOptions,
): Walk {
  let fragments: ReadonlyMap<string, FragmentDefinitionNode> | undefined;
  /** What was met already, and costs something else in another operation. */
  const known: Costs = new Map();
  let givenValues = 0;
  /** How much was met so far that costs something else the next time. */
  let unfixed = 0;

  function walk(set: SelectionSetNode, type: GraphQLNamedType, nesting = 1): SelectionCost {
    const always = fixed.get(set)?.get(type);
    const before = always ?? known.get(set)?.get(type);
    if (before !== undefined) {
      requireAtMost(limits.maxNesting, nesting + before.nesting - 1, 'The nesting depth of selections and fragments');
      if (always === undefined) unfixed++;
      return before;
    }
    const unfixedBefore = unfixed;
    const cost = measureSet(set, type, nesting);
    if (unfixed === unfixedBefore) note(fixed, set, type, cost);
    else if (nesting > 1) note(known, set, type, cost);
    return cost;
  }

  function measureSet(set: SelectionSetNode, type: GraphQLNamedType, nesting: number): SelectionCost {
    requireAtMost(limits.maxNesting, nesting, 'The nesting depth of selections and fragments');
    let sum = NOTHING;
    for (const selection of set.selections) {
      if (selection.directives?.length) unfixed++;
      if (isIncluded(selection, variables)) sum = add(sum, measureSelection(selection, type, nesting));
    }
    requireAtMost(limits.maxNesting, sum.nesting, 'The nesting depth of selections and fragments');
    requireAtMost(limits.maxSiblings, sum.siblings, 'The number of fields in one selection set');
    return { ...sum, nesting: sum.nesting + 1 };
  }

  function measureSelection(selection: SelectionNode, type: GraphQLNamedType, nesting: number): SelectionCost {
    if (selection.kind === Kind.FIELD) {
      const field = isCompositeType(type) ? schema.getField(type, selection.name.value) : undefined;
      return field === undefined ? NOTHING : measureField(selection, field, nesting);
    }
    fragments ??= new Map(document.definitions.filter(isFragment).map((each) => [each.name.value, each]));
    const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments.get(selection.name.value);
    const condition = fragment?.typeCondition && schema.getType(fragment.typeCondition.name.value);
    return fragment === undefined ? NOTHING : walk(fragment.selectionSet, condition ?? type, nesting + 1);
  }

  function measureField(node: FieldNode, field: GraphQLField<unknown, unknown>, nesting: number): SelectionCost {
    const read = inputs.argumentsOf(field, node, variables);
    const args = read instanceof Error ? undefined : read;
    const given = (args === undefined ? 0 : countValues(args)) + countValues(node.alias?.value);
    if (args === undefined || given > 0 || dependsOnMore(field)) unfixed++;
    givenValues += given;
    requireAtMost(limits.maxComplexity, givenValues * VALUE, 'The complexity of the arguments');
    // The field fails before anything in it is asked for: null is all that is written of it.
    if (args === undefined) return { ...NOTHING, objects: (1 + given) * VALUE, values: 1, depth: 1, siblings: 1 };

    for (const height of namedHeights(args)) heights.add(height);

    const type = getNamedType(field.type);
    const inside = node.selectionSet === undefined ? NOTHING : walk(node.selectionSet, type, nesting + 1);
    if (type.name.startsWith('__')) return ofSchema(inside, complexityOf(field, args, contextValue), given);

    const complexity = complexityOf(field, args, contextValue);
    const { field: own, multiplier, entries = ASSUMED_LIST_SIZE, actual = multiplier, isList } = complexity;
    const objects = own + multiplier * (inside.objects + entries * inside.objectsPerEntry);
    const values = inside.values + entries * inside.valuesPerEntry;
    const isOpen = isList && complexity.actual === undefined;
    return {
      ...inside,
      objects: given * VALUE + (isList ? 0 : objects),
      objectsPerEntry: isList ? objects : 0,
      values: isOpen ? 1 : 1 + actual * values,
      valuesPerEntry: isOpen ? values : 0,
      depth: inside.depth + 1,
      siblings: 1,
    };
  }

  return walk;
}

function note(costs: Costs, set: SelectionSetNode, type: GraphQLNamedType, cost: SelectionCost): void {
  const byType = costs.get(set) ?? new Map<GraphQLNamedType, SelectionCost>();
  costs.set(set, byType.set(type, cost));
}

/** A field of introspection: exempt from complexity and depth. */
function ofSchema(inside: SelectionCost, own: Complexity, given: number): SelectionCost {
  const { objects, objectsPerEntry, schemaObjects, nesting } = inside;
  const each = own.field + objects + objectsPerEntry * ASSUMED_SCHEMA_LIST_SIZE + schemaObjects;
  const times = own.isList ? ASSUMED_SCHEMA_LIST_SIZE : 1;
  return { ...NOTHING, schemaObjects: each * times + given * VALUE, depth: 1, nesting, siblings: 1 };
}

type Estimate = (args: unknown, context: object, field: GraphQLField<unknown, unknown>) => Complexity;

function complexityOf(field: GraphQLField<unknown, unknown>, args: unknown, context: object): Complexity {
  const complexity = field.extensions['complexity'] as Complexity | Estimate | undefined;
  return typeof complexity === 'function' ? complexity(args, context, field) : (complexity ?? estimateObjects(field));
}

/** Whether what a field counts as depends on more than the field. */
function dependsOnMore({ extensions: { complexity } }: GraphQLField<unknown, unknown>): boolean {
  return typeof complexity === 'function' && complexity !== estimateField;
}

function isFragment(definition: DocumentNode['definitions'][number]): definition is FragmentDefinitionNode {
  return definition.kind === Kind.FRAGMENT_DEFINITION;
}
