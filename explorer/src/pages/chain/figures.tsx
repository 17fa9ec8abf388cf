import type { ReactNode } from 'react';
import styles from './chain.module.css';

type Figure = { readonly label: string; readonly value: ReactNode; readonly note?: ReactNode };

/** A row of labelled figures. */
export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl className={styles.figures}>
      {figures.map(({ label, value, note }) => (
        <div key={label} className={styles.figure}>
          <dt>{label}</dt>
          <dd>
            <span className={styles.value} translate="no">
              {value}
            </span>
            {note !== undefined && <span className={styles.note}>{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
