import type { Unit } from '../../app/unit.ts';
import { SortHeader } from '../../parts/sort-header.tsx';
import tableStyles from '../../parts/table.module.css';
import { RowSpace, type VirtualRows } from '../../parts/virtual-rows.tsx';
import type { MarketSort } from './market-order.ts';
import { MarketTableRow } from './market-row.tsx';
import type { MarketRow } from './market-rows.ts';
import styles from './markets.module.css';
import type { RowDetails } from './row-details.ts';
import type { ViewParameters } from './view-parameters.ts';

type MarketTableProps = {
  /** The rows near the screen. */
  readonly rows: readonly MarketRow[];
  /** The number of all rows. */
  readonly count: number;
  readonly virtual: VirtualRows;
  readonly details: ReadonlyMap<string, RowDetails>;
  readonly view: ViewParameters;
  readonly hasHistory: boolean | undefined;
  /** The id of the text on changes of which not all is recorded. */
  readonly notesId: string;
  readonly unit: Unit;
};

/** The markets as a table. Only the rows near the screen exist. */
export function MarketTable({ rows, count, virtual, details, view, hasHistory, notesId, unit }: MarketTableProps) {
  const header = (sort: MarketSort) => ({
    direction: view.sort === sort ? view.direction : undefined,
    onSort: () => view.sortBy(sort),
  });
  const hasDay = hasHistory !== false;
  // Where there is room for one of the two, it is the one that sorts the list.
  const shown = view.sort === 'liquidity' ? 'liquidity' : 'volume';
  return (
    <table
      ref={virtual.table}
      className={`${tableStyles.table} ${tableStyles.fixed} ${styles.table}`}
      data-shown={shown}
      aria-rowcount={count + 1}
    >
      <colgroup>
        <col className={styles.nameColumn} />
        <col className={styles.priceColumn} />
        {hasDay && <col className={styles.changeColumn} />}
        {hasDay && <col className={styles.chartColumn} />}
        <col className={styles.volumeColumn} />
        <col className={styles.liquidityColumn} />
      </colgroup>
      <thead className={styles.head}>
        <tr aria-rowindex={1}>
          <SortHeader {...header('name')}>{view.list === 'pools' ? 'Pool' : 'Market'}</SortHeader>
          <SortHeader {...header('price')} isNumber>
            <span>Price</span>
            {unit === 'USD' && <span className={styles.unit}>, USD</span>}
          </SortHeader>
          {hasDay &&
            (view.sorts.includes('change') ? (
              <SortHeader {...header('change')} isNumber>
                24 h
              </SortHeader>
            ) : (
              <th scope="col" className={tableStyles.number}>
                24 h
              </th>
            ))}
          {hasDay && (
            <th scope="col" className={styles.chart}>
              24 h chart
            </th>
          )}
          <SortHeader {...header('volume')} isNumber>
            <span className={styles.period}>24 h</span> <span className={styles.long}>volume</span>
            <span className={styles.unit}>{`, ${unit}`}</span>
          </SortHeader>
          <SortHeader {...header('liquidity')} isNumber>
            <span>Liquidity</span>
            <span className={styles.unit}>{`, ${unit}`}</span>
          </SortHeader>
        </tr>
      </thead>
      <RowSpace height={virtual.before} />
      <tbody translate="no">
        {rows.map((row, index) => (
          <MarketTableRow
            key={row.key}
            row={row}
            rowIndex={virtual.first + index + 2}
            details={details.get(row.key)}
            hasDay={hasDay}
            notesId={notesId}
            unit={unit}
          />
        ))}
      </tbody>
      <RowSpace height={virtual.after} />
    </table>
  );
}
