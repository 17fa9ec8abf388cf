import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  isAbstractType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  type VariableValues,
} from 'graphql';

type CollectOptions = {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  /** Without them, `@skip` and `@include` have no effect. */
  readonly variables: VariableValues | undefined;
  /** Called for each selection, with the number of fragments around it. @throws if a limit is exceeded */
  readonly count: (fragments: number) => void;
};

/** A field of a selection: its merged nodes, and the maximum number of fragments around them. */
export type CollectedField = { readonly nodes: FieldNode[]; nesting: number };

/** `CollectFields` of the specification: the fields of selection sets for an object type, by response name, in order. */
export function collectFields(
  { schema, fragments, variables, count }: CollectOptions,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): ReadonlyMap<string, CollectedField> {
  const fields = new Map<string, CollectedField>();
  const spread = new Set<string>();

  function collect({ selections }: SelectionSetNode, nesting: number): void {
    for (const selection of selections) {
      count(nesting);
      if (variables !== undefined && !isIncluded(selection, variables)) continue;
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        const field = fields.get(name);
        if (field === undefined) {
          fields.set(name, { nodes: [selection], nesting });
        } else {
          field.nodes.push(selection);
          field.nesting = Math.max(field.nesting, nesting);
        }
        continue;
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? takeOnce(selection.name.value) : selection;
      if (fragment !== undefined && applies(fragment.typeCondition?.name.value))
        collect(fragment.selectionSet, nesting + 1);
    }
  }

  /** A fragment that is spread twice in the same selection set is collected once. */
  function takeOnce(name: string): FragmentDefinitionNode | undefined {
    if (spread.has(name)) return undefined;
    spread.add(name);
    return fragments[name];
  }

  function applies(condition: string | undefined): boolean {
    if (condition === undefined || condition === type.name) return true;
    const named = schema.getType(condition);
    return named !== undefined && isAbstractType(named) && schema.isSubType(named, type);
  }

  for (const set of sets) collect(set, 0);
  return fields;
}

/** Whether `@skip` and `@include` include a selection. @throws GraphQLError if their argument is invalid */
function isIncluded(selection: SelectionNode, variables: VariableValues): boolean {
  if (selection.directives === undefined || selection.directives.length === 0) return true;
  if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false;
}
