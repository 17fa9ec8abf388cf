import { type DocumentNode, Kind, type OperationDefinitionNode, type ValueNode, visit } from 'graphql';

/** Whether there are variables in a value of a document. */
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

/** The variables of an operation that stand in directives, and so decide what is selected. */
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
