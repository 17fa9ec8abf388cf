import type { ReactNode } from 'react';
import styles from './state.module.css';

type EmptyStateProps = { readonly title: string; readonly children?: ReactNode };

/** Says that there is nothing to show, and what to do about it. */
export function EmptyState({ title, children }: EmptyStateProps) {
  return (
    <div className={styles.state}>
      <p className={styles.title}>{title}</p>
      {children !== undefined && <div className={styles.text}>{children}</div>}
    </div>
  );
}
