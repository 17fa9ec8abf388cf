import { type ReactNode, useId } from 'react';
import type { SentQuery } from '../client/hooks.ts';
import styles from './panel.module.css';
import { ShowQuery } from './show-query.tsx';

type PanelProps = {
  readonly title: string;
  /** What "Show the query" opens. A panel without data of the gateway has none. */
  readonly query?: SentQuery | undefined;
  /** How fresh the content is: a `Freshness`, or a few words. */
  readonly freshness?: ReactNode;
  /** Controls of the panel, such as tabs. */
  readonly actions?: ReactNode;
  readonly isBusy?: boolean;
  /** Whether the content reaches the edges, as tables and charts do. */
  readonly isFlush?: boolean;
  readonly children: ReactNode;
};

/** A part of a page with a title: everything that the explorer shows of the gateway is in one. */
export function Panel({ title, query, freshness, actions, isBusy = false, isFlush = false, children }: PanelProps) {
  const id = useId();
  return (
    <section className={styles.panel} aria-labelledby={id} aria-busy={isBusy}>
      <div className={styles.header}>
        <h2 id={id} className={styles.title} tabIndex={-1}>
          {title}
        </h2>
        {freshness !== undefined && <span className={styles.freshness}>{freshness}</span>}
        <span className={styles.space} />
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
        {query && <ShowQuery query={query} of={title} />}
      </div>
      <div className={isFlush ? styles.flush : styles.body}>{children}</div>
    </section>
  );
}
