import type { ReactNode } from 'react';
import styles from './table.module.css';

type ScrollerProps = {
  /** What is in it, for screen readers. */
  readonly label: string;
  readonly className?: string | undefined;
  readonly children: ReactNode;
};

/** Around a table that can be wider than a phone. It is scrolled with the keyboard too, and its edges show that there is more. */
export function Scroller({ label, className = '', children }: ScrollerProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    <section className={`${styles.scroller} ${className}`} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
