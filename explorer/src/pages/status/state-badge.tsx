import type { ReactNode } from 'react';
import styles from './status.module.css';

/** How good a state is. The words say it too: the colour alone would not reach everybody. */
export type Tone = 'good' | 'warning' | 'bad' | 'neutral';

/** A state in a word or two. */
export function StateBadge({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className={styles.badge} data-tone={tone}>
      {children}
    </span>
  );
}
