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

/** What selections are read with. */
export type Surroundings = {
  readonly schema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
  readonly variables: VariableValues;
  /** Called for each selection, with the number of fragments around it. @throws if there are too many of one or the other */
  readonly count: (fragments: number) => void;
};

/** A field of a selection: its nodes, which are merged, and the number of fragments around the innermost one. */
export type CollectedField = { readonly nodes: FieldNode[]; nesting: number };

/** The fields that some selections make of an object of that type, by their names in the answer and in its order. */
export function collectFields(
  { schema, fragments, variables, count }: Surroundings,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): ReadonlyMap<string, CollectedField> {
  const fields = new Map<string, CollectedField>();
  const spread = new Set<string>();

  function collect({ selections }: SelectionSetNode, nesting: number): void {
    for (const selection of selections) {
      count(nesting);
      if (!isIncluded(selection, variables)) continue;
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

  /** A fragment that is spread twice side by side selects nothing more the second time. */
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

/** @throws GraphQLError where the directive cannot be read */
function isIncluded(selection: SelectionNode, variables: VariableValues): boolean {
  if (selection.directives === undefined || selection.directives.length === 0) return true;
  if (getDirectiveValues(GraphQLSkipDirective, selection, variables)?.['if'] === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, selection, variables)?.['if'] !== false;
}
