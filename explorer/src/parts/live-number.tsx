import { useEffect, useRef } from 'react';
import styles from './live-number.module.css';

type LiveNumberProps = {
  readonly value: number | null | undefined;
  /** The value as text. */
  readonly children: string;
};

/** A number that flashes when it rises or falls, unless the reader prefers reduced motion. No translator replaces it. */
export function LiveNumber({ value, children }: LiveNumberProps) {
  const element = useRef<HTMLSpanElement>(null);
  const previous = useRef(value);
  useEffect(() => {
    const before = previous.current;
    previous.current = value;
    if (before == null || value == null || before === value || element.current === null) return;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const backgroundColor = value > before ? 'var(--up-soft)' : 'var(--down-soft)';
    element.current.animate([{ backgroundColor }, { backgroundColor: 'transparent' }], { duration: 900 });
  }, [value]);
  return (
    <span ref={element} className={styles.number} translate="no">
      {children}
    </span>
  );
}
