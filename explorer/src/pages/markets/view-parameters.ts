import { useSearchParams } from 'react-router';
import { currentParameters, FROM_FIRST_ROW, withParameter } from '../../app/url-parameters.ts';
import { focusSearchField } from '../../parts/search-field.tsx';
import { type Direction, firstDirection, MARKET_SORTS, type MarketSort } from './market-order.ts';

/** The markets of the market-data host, all pools of the node, or those of both that the reader has marked. */
const LISTS = ['markets', 'pools', 'favourites'] as const;
export type ListName = (typeof LISTS)[number];

/** What the reader has chosen. It is in the URL, without what is usual. */
export type ViewParameters = {
  readonly list: ListName;
  readonly search: string;
  readonly sort: MarketSort;
  readonly direction: Direction;
  setList(list: ListName): void;
  clearSearch(): void;
  /** Sorts by a column; the second time, in the other direction. */
  sortBy(sort: MarketSort): void;
};

/** The choices in the URL. `usualList` is shown if it names none. */
export function useViewParameters(usualList: ListName): ViewParameters {
  const [parameters, setParameters] = useSearchParams();
  const inUrl = parameters.get('list');
  const list = LISTS.find((known) => known === inUrl) ?? usualList;
  // A pool without a market has no volume.
  const usualSort: MarketSort = list === 'pools' ? 'liquidity' : 'volume';
  const sort = MARKET_SORTS.find((known) => known === parameters.get('sort')) ?? usualSort;
  const named = parameters.get('direction');
  const direction = named === 'ascending' || named === 'descending' ? named : firstDirection(sort);

  return {
    list,
    search: parameters.get('search') ?? '',
    sort,
    direction,
    setList(next) {
      setParameters(withParameter(currentParameters(), 'list', next === usualList ? '' : next), FROM_FIRST_ROW);
    },
    clearSearch() {
      setParameters(withParameter(currentParameters(), 'search', ''), FROM_FIRST_ROW);
      focusSearchField();
    },
    sortBy(next) {
      const other = direction === 'ascending' ? 'descending' : 'ascending';
      const chosen = next === sort ? other : firstDirection(next);
      const sorted = withParameter(currentParameters(), 'sort', next === usualSort ? '' : next);
      setParameters(withParameter(sorted, 'direction', chosen === firstDirection(next) ? '' : chosen), FROM_FIRST_ROW);
    },
  };
}
