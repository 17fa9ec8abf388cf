/** What a link to GraphiQL opens. */
export type Linked = {
  readonly query: string;
  /** As JSON. */
  readonly variables?: string | null | undefined;
  /** Whether GraphiQL runs the query as soon as it is open. */
  readonly run?: boolean;
};

/** The parameters of a link, behind `?` or `#`. */
export function toParameters({ query, variables }: Linked): URLSearchParams {
  return new URLSearchParams({ query, ...(variables && { variables }) });
}

/**
 * Reads the link of an address. Parameters behind `#` are not sent: the limits of servers and proxies for the length of a URL do
 * not apply, and no log has the query. A gateway without GraphiQL responds to those behind `?`. With `#run`, the query is run.
 */
export function readLink({ hash, search }: Pick<URL, 'hash' | 'search'>): Linked | undefined {
  const fragment = new URLSearchParams(hash.slice(1));
  const parameters = fragment.has('query') ? fragment : new URLSearchParams(search);
  const query = parameters.get('query');
  return query ? { query, variables: parameters.get('variables'), run: fragment.has('run') } : undefined;
}
