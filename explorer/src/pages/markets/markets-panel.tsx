import { type ReactNode, useDeferredValue, useId, useMemo } from 'react';
import { isFavourite, useFavourites } from '../../app/favourites.ts';
import { DASH_IN_USD, type Unit } from '../../app/unit.ts';
import { formatInteger } from '../../format/numbers.ts';
import { errorsAt } from '../../parts/answered.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { Freshness } from '../../parts/freshness.tsx';
import { Panel } from '../../parts/panel.tsx';
import { SkeletonRows } from '../../parts/skeleton.tsx';
import { SortSelect } from '../../parts/sort-select.tsx';
import { useSteady } from '../../parts/steady.ts';
import tableStyles from '../../parts/table.module.css';
import { Tabs } from '../../parts/tabs.tsx';
import { useVirtualRows } from '../../parts/virtual-rows.tsx';
import type { MarketData, MarketList, MarketListState } from './market-list.ts';
import { type MarketSort, searchRows, sortRows } from './market-order.ts';
import { hasGaps } from './market-row.tsx';
import { type MarketRows, rowsOf } from './market-rows.ts';
import { MarketTable } from './market-table.tsx';
import styles from './markets.module.css';
import { useRowDetails } from './row-details.ts';
import type { ListName, ViewParameters } from './view-parameters.ts';

type MarketsPanelProps = {
  readonly list: MarketListState & Pick<MarketList, 'retry'>;
  readonly view: ViewParameters;
  /** Undefined until the gateway has said whether it records prices, and while they cannot be read. */
  readonly hasHistory: boolean | undefined;
  readonly unit: Unit;
};

const TABS = [
  { value: 'markets', label: 'Markets' },
  { value: 'pools', label: 'All pools' },
  { value: 'favourites', label: 'Favourites' },
] as const;

const COLUMNS: readonly { readonly sort: MarketSort; readonly label: string }[] = [
  { sort: 'name', label: 'Name' },
  { sort: 'price', label: 'Price' },
  { sort: 'change', label: '24 h change' },
  { sort: 'volume', label: '24 h volume' },
  { sort: 'liquidity', label: 'Liquidity' },
];

const NO_ROWS: MarketRows = { markets: [], pools: [] };

/** The list that the reader has chosen, in each of its states. */
export function MarketsPanel({ list: { data, errors, query, retry }, view, hasHistory, unit }: MarketsPanelProps) {
  const listedRows = useMemo(() => (data === undefined ? NO_ROWS : rowsOf(data, unit)), [data, unit]);
  const marked = useFavourites();
  const rows = useMemo(() => {
    const all = new Set([...listedRows.markets, ...listedRows.pools]);
    return { ...listedRows, favourites: [...all].filter(({ poolIds }) => isFavourite(marked, poolIds)) };
  }, [listedRows, marked]);
  const search = useDeferredValue(view.search);
  const found = useMemo(() => searchRows(rows[view.list], search), [rows, view.list, search]);
  const { sort, direction } = view;
  const sorted = useMemo(() => sortRows(found, sort, direction, unit), [found, sort, direction, unit]);
  const { steady: listed, handlers } = useSteady(sorted);

  const virtual = useVirtualRows(listed.length);
  const { first, end, isScrolling } = virtual;
  const inView = useMemo(() => listed.slice(first, end), [listed, first, end]);
  const { details, height } = useRowDetails(inView, {
    isScrolling,
    withHistory: hasHistory === true,
    withUsd: unit === 'USD',
  });

  const columns = COLUMNS.filter(({ sort }) => view.sorts.includes(sort));
  const notesId = useId();
  const isPaler = hasHistory !== false && inView.some(({ key }) => hasGaps(details.get(key)));
  const notes = [
    ...(isPaler ? ['Paler changes: not all of the 24 h is recorded'] : []),
    ...(unit === 'USD' ? [DASH_IN_USD] : []),
  ];
  return (
    <Panel
      title={{ markets: 'Markets', pools: 'Pools', favourites: 'Favourites' }[view.list]}
      query={query}
      freshness={<Freshness height={height ?? data?.height} />}
      actions={<Tabs label="List" tabs={TABS} value={view.list} onChange={view.setList} />}
      isBusy={data === undefined && errors.length === 0}
      isFlush
    >
      <div className={tableStyles['bar']}>
        <p role="status">{data && countOf({ data, rows, found: listed.length, search, view })}</p>
        <SortSelect columns={columns} sort={view.sort} direction={view.direction} onSort={view.sortBy} />
      </div>
      {hasHistory === false && (
        <p className={styles.note}>The 24 h change and chart need recorded prices, and this gateway records none.</p>
      )}
      {listed.length > 0 ? (
        <div {...handlers}>
          <MarketTable rows={inView} count={listed.length} {...{ virtual, details, view, hasHistory, notesId, unit }} />
          {notes.length > 0 && (
            <p id={notesId} className={styles.notes}>
              {notes.join('. ')}
            </p>
          )}
        </div>
      ) : (
        whyEmpty()
      )}
    </Panel>
  );

  function whyEmpty(): ReactNode {
    const field = view.list === 'pools' ? 'poolPairs' : 'pairs';
    const own = errorsAt(errors, [field]);
    if (data === undefined) {
      return errors.length === 0 ? <SkeletonRows rows={20} /> : <ErrorState errors={errors} retry={retry} />;
    }
    if ((field === 'pairs' ? data.pairs : data.pools) === null && own.length > 0) {
      return <ErrorState errors={own} retry={retry} />;
    }
    if (view.list === 'favourites' && rows.favourites.length === 0) {
      return (
        <EmptyState title="There are no favourites yet">
          <p>The star beside a market adds it. Favourites are stored in this browser only.</p>
        </EmptyState>
      );
    }
    if (rows[view.list].length === 0) {
      return <EmptyState title={view.list === 'markets' ? 'The host has no markets' : 'The exchange has no pools'} />;
    }
    const other: ListName = view.list === 'markets' ? 'pools' : 'markets';
    const others = searchRows(rows[other], search).length;
    return (
      <EmptyState title={view.list === 'pools' ? 'No pool matches' : 'No market matches'}>
        <p>Search for a part of a symbol or ticker, or for a token id.</p>
        <p className={styles.buttons}>
          <Button onClick={view.clearSearch}>Clear the search</Button>
          {others > 0 && (
            <Button onClick={() => view.setList(other)}>{`Show matching ${other} (${formatInteger(others)})`}</Button>
          )}
        </p>
      </EmptyState>
    );
  }
}

type Count = {
  readonly data: MarketData;
  readonly rows: { readonly [Name in ListName]: readonly unknown[] };
  readonly found: number;
  readonly search: string;
  readonly view: ViewParameters;
};

/** How many rows there are, and what is on its way. */
function countOf({ data, rows, found, search, view: { list, sort } }: Count): string {
  const all = `${formatInteger(rows[list].length)} ${rows[list].length === 1 ? list.slice(0, -1) : list}`;
  const loaded = data.pools?.length ?? 0;
  return [
    search.trim() === '' ? all : `${formatInteger(found)} of ${all}`,
    loaded < data.totalPools && `${formatInteger(loaded)} of ${formatInteger(data.totalPools)} pools are here`,
    sort === 'change' && !data.hasChange && 'sorted when all changes are here',
  ]
    .filter(Boolean)
    .join(' · ');
}
