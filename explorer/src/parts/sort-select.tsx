import { useId } from 'react';
import { Button } from './button.tsx';
import type { SortDirection } from './sort-header.tsx';
import styles from './sort-select.module.css';

type SortSelectProps<Sort extends string> = {
  readonly columns: readonly { readonly sort: Sort; readonly label: string }[];
  readonly sort: Sort;
  readonly direction: SortDirection;
  /** Sorts by a column; by the chosen one, in the other direction. */
  readonly onSort: (sort: Sort) => void;
};

/** Sorts a table by any of its columns where it is too narrow for the headers of all of them. */
export function SortSelect<Sort extends string>({ columns, sort, direction, onSort }: SortSelectProps<Sort>) {
  const id = useId();
  return (
    <div className={styles.sorting}>
      <label htmlFor={id}>Sort by</label>
      <select id={id} className={styles.select} value={sort} onChange={({ target }) => onSort(target.value as Sort)}>
        {columns.map((column) => (
          <option key={column.sort} value={column.sort}>
            {column.label}
          </option>
        ))}
      </select>
      <Button
        className={styles.direction ?? ''}
        aria-label={`${direction === 'ascending' ? 'Ascending' : 'Descending'}: sort in the other direction`}
        onClick={() => onSort(sort)}
      >
        {direction === 'ascending' ? '↑' : '↓'}
      </Button>
    </div>
  );
}
