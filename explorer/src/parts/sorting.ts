import { useSearchParams } from 'react-router';
import { currentParameters, FROM_FIRST_ROW, withParameter } from '../app/url-parameters.ts';
import type { SortDirection } from './sort-header.tsx';

/** How a list is sorted. */
export type Sorting<Sort extends string> = {
  readonly sort: Sort;
  readonly direction: SortDirection;
  /** Sorts by a column; the second time, in the other direction. */
  sortBy(sort: Sort): void;
};

/** How a column is sorted at first: names from A to Z, numbers from the largest. */
export function firstDirection(sort: string): SortDirection {
  return sort === 'name' ? 'ascending' : 'descending';
}

/** How the URL says that a list is sorted. What is usual is not in the URL. */
export function useSorting<Sort extends string>(sorts: readonly Sort[], usual: Sort): Sorting<Sort> {
  const [parameters, setParameters] = useSearchParams();
  const [inUrl, named] = [parameters.get('sort') ?? usual, parameters.get('direction')];
  const sort = sorts.find((known) => known === inUrl) ?? usual;
  // The direction in the URL belongs to the column that the URL names.
  const isNamed = sort === inUrl && (named === 'ascending' || named === 'descending');
  const direction = isNamed ? named : firstDirection(sort);
  return {
    sort,
    direction,
    sortBy(next) {
      const other = direction === 'ascending' ? 'descending' : 'ascending';
      const chosen = next === sort ? other : firstDirection(next);
      const sorted = withParameter(currentParameters(), 'sort', next === usual ? '' : next);
      setParameters(withParameter(sorted, 'direction', chosen === firstDirection(next) ? '' : chosen), FROM_FIRST_ROW);
    },
  };
}
