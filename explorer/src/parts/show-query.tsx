import { useMemo } from 'react';
import type { SentQuery } from '../client/hooks.ts';
import { graphiqlUrl } from './graphiql-url.ts';
import styles from './show-query.module.css';

type ShowQueryProps = {
  readonly query: SentQuery;
  /** What the query is of, for screen readers: a page has several of these links. */
  readonly of: string;
};

/** A link that opens the query in GraphiQL, with its variables of this moment. */
export function ShowQuery({ query: { document, variables }, of }: ShowQueryProps) {
  const variablesText = JSON.stringify(variables ?? {});
  const href = useMemo(() => graphiqlUrl(document, JSON.parse(variablesText)), [document, variablesText]);
  return (
    <a className={styles.link} href={href} target="_blank" rel="noreferrer" aria-label={`Show the query: ${of}`}>
      <svg className={styles.icon} viewBox="0 0 16 16" aria-hidden="true">
        <path d="M5.5 3.5 2 8l3.5 4.5M10.5 3.5 14 8l-3.5 4.5" />
      </svg>
      <span className={styles.label}>Show the query</span>
    </a>
  );
}
