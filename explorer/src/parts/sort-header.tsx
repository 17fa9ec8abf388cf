import type { ReactNode } from 'react';
import styles from './table.module.css';

/** From the smallest value, or from the largest. */
export type SortDirection = 'ascending' | 'descending';

type SortHeaderProps = {
  /** How the table is sorted by this column; undefined if it is sorted by another. */
  readonly direction: SortDirection | undefined;
  readonly onSort: () => void;
  readonly isNumber?: boolean;
  readonly children: ReactNode;
};

/** The header of a column of a `<table>` that can be sorted by it. */
export function SortHeader({ direction, onSort, isNumber = false, children }: SortHeaderProps) {
  return (
    <th scope="col" aria-sort={direction ?? 'none'} className={isNumber ? styles.number : undefined}>
      <button type="button" className={styles.sort} data-direction={direction} onClick={onSort}>
        <span>{children}</span>
        <svg className={styles.arrow} viewBox="0 0 10 10" aria-hidden="true">
          <path d="M1 3h8L5 8z" />
        </svg>
      </button>
    </th>
  );
}
