import { type DocumentNode, print } from '@0no-co/graphql.web';
import { toParameters } from '../graphiql/link.ts';

/** The address of GraphiQL with a document and its variables, which it runs. Without GraphiQL, it is that of the response. */
export function graphiqlUrl(document: object, variables: Record<string, unknown> | undefined): string {
  const query = `${printDocument(document as DocumentNode)}\n`;
  const hasVariables = variables && Object.keys(variables).length > 0;
  const parameters = toParameters({ query, ...(hasVariables && { variables: JSON.stringify(variables) }) });
  return `/graphql?${parameters}#run`;
}

/** A document as a person would write it: the operation first, then the fragments that it uses. */
function printDocument(document: DocumentNode): string {
  return document.definitions.map((definition) => print(definition)).join('\n\n');
}
