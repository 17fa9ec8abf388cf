import {
  type ArgumentNode,
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isCompositeType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type ObjectFieldNode,
  print,
  type SelectionSetNode,
  type ValidationContext,
  type ValueNode,
} from 'graphql';
import { tooManyComparisons } from './document-bounds.ts';

/** A selected field, with the type of its object and its own type. */
type Use = {
  readonly parent: GraphQLNamedType | undefined;
  readonly node: FieldNode;
  readonly type: GraphQLOutputType | undefined;
};

/** A selection set, with the type of its object. */
type TypedSet = { readonly set: SelectionSetNode; readonly parent: GraphQLNamedType | undefined };

/** Maximum number of steps. A document without fragments needs two for each of its fields. */
const MAX_STEPS = 60_000;

/**
 * The rule "Field Selection Merging" of the specification: fields with the same response name are the same field with the same
 * arguments, or belong to objects of different types, and their values have the same shape.
 *
 * graphql-js compares all pairs of fields, which takes quadratic time. Here fields are grouped by response name, and each is
 * compared with the first of its group. Selection sets that are merged in several places are compared once for each
 * combination.
 *
 * @throws GraphQLError if that takes too many steps
 */
export function overlappingFields(context: ValidationContext): ASTVisitor {
  const ids = new Map<SelectionSetNode, number>();
  const seen = { shapes: new Set<string>(), fields: new Set<string>() };
  const texts = new Map<FieldNode, string>();
  const reported = new Set<FieldNode>();
  let steps = 0;

  function step(): void {
    if (++steps > MAX_STEPS) throw tooManyComparisons();
  }

  function keyOf(sets: readonly TypedSet[]): string {
    const numbers = sets.map(({ set }) => {
      const id = ids.get(set) ?? ids.size;
      ids.set(set, id);
      return id;
    });
    return [...new Set(numbers)].sort((a, b) => a - b).join();
  }

  /** The fields of several selection sets together, by their response names. */
  function fieldsOf(sets: readonly TypedSet[]): ReadonlyMap<string, readonly Use[]> {
    const uses = new Map<string, Use[]>();
    const visited = new Set<SelectionSetNode>();
    for (const { set, parent } of sets) collect(set, parent, uses, visited);
    return uses;
  }

  function collect(
    set: SelectionSetNode,
    parent: GraphQLNamedType | undefined,
    uses: Map<string, Use[]>,
    visited: Set<SelectionSetNode>,
  ): void {
    if (visited.has(set)) return;
    visited.add(set);
    for (const selection of set.selections) {
      step();
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        const use = { parent, node: selection, type: typeOf(selection, parent) };
        const others = uses.get(name);
        if (others === undefined) uses.set(name, [use]);
        else others.push(use);
        continue;
      }
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : context.getFragment(selection.name.value);
      const condition = fragment?.typeCondition?.name.value;
      const type = condition === undefined ? parent : context.getSchema().getType(condition);
      if (fragment != null) collect(fragment.selectionSet, type, uses, visited);
    }
  }

  function typeOf(node: FieldNode, parent: GraphQLNamedType | undefined): GraphQLOutputType | undefined {
    if (parent === undefined || !isCompositeType(parent)) return undefined;
    return context.getSchema().getField(parent, node.name.value)?.type;
  }

  /** Fields with the same response name, of objects that can have the same type, are the same field with the same arguments. */
  function checkFields(sets: readonly TypedSet[]): void {
    checkGroups(sets, seen.fields, (uses) => {
      const haveOneParent = uses.every(({ parent }) => parent === uses[0]?.parent);
      for (const group of haveOneParent ? [uses] : byObjectType(uses)) {
        checkEach(group, (first, other) => {
          const [name, otherName] = [first.node.name.value, other.node.name.value];
          if (name !== otherName) return `"${name}" and "${otherName}" are different fields`;
          return argumentsOf(first.node) === argumentsOf(other.node) ? undefined : 'they have differing arguments';
        });
        checkFields(insideOf(group));
      }
      // The same field of the same type has values of one shape.
      if (!haveOneParent) checkShapes(uses);
    });
  }

  /** Fields with the same response name have values of the same shape, whatever the types of their objects are. */
  function checkShapes(uses: readonly Use[]): void {
    checkEach(uses, (first, other) =>
      first.type !== undefined && other.type !== undefined && !haveSameShape(first.type, other.type)
        ? `they return conflicting types "${first.type}" and "${other.type}"`
        : undefined,
    );
    checkGroups(insideOf(uses), seen.shapes, checkShapes);
  }

  function checkGroups(sets: readonly TypedSet[], checked: Set<string>, check: (uses: readonly Use[]) => void): void {
    if (sets.length === 0) return;
    const key = keyOf(sets);
    if (checked.has(key)) return;
    checked.add(key);
    for (const uses of fieldsOf(sets).values()) check(uses);
  }

  function checkEach(uses: readonly Use[], conflictOf: (first: Use, other: Use) => string | undefined): void {
    const [first, ...others] = uses;
    if (first === undefined) return;
    for (const other of others) {
      step();
      const reason = conflictOf(first, other);
      if (reason === undefined || reported.has(other.node)) continue;
      reported.add(other.node);
      const name = (first.node.alias ?? first.node.name).value;
      const advice = 'Use different aliases on the fields to fetch both if this was intentional.';
      context.reportError(
        new GraphQLError(`Fields "${name}" conflict because ${reason}. ${advice}`, { nodes: [first.node, other.node] }),
      );
    }
  }

  function argumentsOf(node: FieldNode): string {
    if (node.arguments === undefined) return '';
    const known = texts.get(node);
    if (known !== undefined) return known;
    const text = inOrder(node.arguments);
    texts.set(node, text);
    return text;
  }

  return {
    OperationDefinition({ operation, selectionSet }) {
      checkFields([{ set: selectionSet, parent: context.getSchema().getRootType(operation) ?? undefined }]);
      return false;
    },
    FragmentDefinition: () => false,
  };
}

/** The text of arguments, or of the fields of an input object: neither have an order. */
function inOrder(members: readonly (ArgumentNode | ObjectFieldNode)[]): string {
  return members
    .map(({ name, value }) => `${name.value}:${valueText(value)}`)
    .sort()
    .join();
}

function valueText(value: ValueNode): string {
  if (value.kind === Kind.LIST) return `[${value.values.map(valueText).join()}]`;
  return value.kind === Kind.OBJECT ? `{${inOrder(value.fields)}}` : print(value);
}

function insideOf(uses: readonly Use[]): readonly TypedSet[] {
  return uses.flatMap(({ node: { selectionSet }, type }) =>
    selectionSet === undefined ? [] : [{ set: selectionSet, parent: type && getNamedType(type) }],
  );
}

/** The fields that objects of one type can have: for each object type, its own fields and those of interfaces and unions. */
function byObjectType(uses: readonly Use[]): readonly (readonly Use[])[] {
  const types = new Set(uses.flatMap(({ parent }) => (isObjectType(parent) ? [parent] : [])));
  if (types.size === 0) return [uses];
  return [...types].map((type: GraphQLObjectType) =>
    uses.filter(({ parent }) => parent === type || !isObjectType(parent)),
  );
}

function haveSameShape(a: GraphQLOutputType, b: GraphQLOutputType): boolean {
  if (isNonNullType(a) || isNonNullType(b))
    return isNonNullType(a) && isNonNullType(b) && haveSameShape(a.ofType, b.ofType);
  if (isListType(a) || isListType(b)) return isListType(a) && isListType(b) && haveSameShape(a.ofType, b.ofType);
  return isLeafType(a) || isLeafType(b) ? a === b : true;
}
