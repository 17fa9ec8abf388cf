import { type DocumentNode, Kind, type OperationDefinitionNode, type ValueNode, visit } from 'graphql';

/** Whether a value of a document contains variables. */
export function hasVariables(value: ValueNode): boolean {
  switch (value.kind) {
    case Kind.VARIABLE:
      return true;
    case Kind.LIST:
      return value.values.some(hasVariables);
    case Kind.OBJECT:
      return value.fields.some((field) => hasVariables(field.value));
    default:
      return false;
  }
}

/** The variables of an operation that directives use, and that therefore decide what is selected. */
export function findConditions(document: DocumentNode, operation: OperationDefinitionNode): readonly string[] {
  const names = new Set<string>();
  visit(document, {
    Directive(node) {
      for (const { value } of node.arguments ?? []) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return (operation.variableDefinitions ?? [])
    .map(({ variable }) => variable.name.value)
    .filter((name) => names.has(name));
}
