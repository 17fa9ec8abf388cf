import { useSearchParams } from 'react-router';
import { currentParameters, FROM_FIRST_ROW, withParameter } from '../../app/url-parameters.ts';
import { focusSearchField } from '../../parts/search-field.tsx';
import { type Sorting, useSorting } from '../../parts/sorting.ts';
import { MARKET_SORTS, type MarketSort } from './market-order.ts';

/** The markets of the market-data host, all pools of the node, or those of both that the reader has marked. */
const LISTS = ['markets', 'pools', 'favourites'] as const;
export type ListName = (typeof LISTS)[number];

/** What the reader has chosen. It is in the URL, without what is usual. */
export type ViewParameters = Sorting<MarketSort> & {
  readonly list: ListName;
  readonly search: string;
  /** By what the list can be sorted. */
  readonly sorts: readonly MarketSort[];
  setList(list: ListName): void;
  clearSearch(): void;
};

/** The choices in the URL. `usualList` is shown if it names none. */
export function useViewParameters(usualList: ListName, canSortByChange: boolean): ViewParameters {
  const [parameters, setParameters] = useSearchParams();
  const inUrl = parameters.get('list');
  const list = LISTS.find((known) => known === inUrl) ?? usualList;
  // A pool without a market has no volume.
  const sorts = MARKET_SORTS.filter((sort) => sort !== 'change' || canSortByChange);
  const sorting = useSorting(sorts, list === 'pools' ? 'liquidity' : 'volume');

  return {
    list,
    search: parameters.get('search') ?? '',
    sorts,
    ...sorting,
    setList(next) {
      setParameters(withParameter(currentParameters(), 'list', next === usualList ? '' : next), FROM_FIRST_ROW);
    },
    clearSearch() {
      setParameters(withParameter(currentParameters(), 'search', ''), FROM_FIRST_ROW);
      focusSearchField();
    },
  };
}
