import { type DocumentNode, print } from '@0no-co/graphql.web';

/** The address of GraphiQL with a document and its variables. */
export function graphiqlUrl(document: object, variables: Record<string, unknown> | undefined): string {
  const query = `${printDocument(document as DocumentNode)}\n`;
  const parameters = new URLSearchParams({ query });
  if (variables && Object.keys(variables).length > 0) parameters.set('variables', JSON.stringify(variables, null, 2));
  return `/graphql?${parameters}`;
}

/** A document as a person would write it: the operation first, then the fragments that it uses. */
function printDocument(document: DocumentNode): string {
  return document.definitions.map((definition) => print(definition)).join('\n\n');
}
