import { memo } from 'react';
import { Link } from 'react-router';
import { NO_USD_LIQUIDITY, NO_USD_PRICE, type Unit } from '../../app/unit.ts';
import { formatCompact, formatPercent, formatPrice, formatUsd, formatUsdPrice } from '../../format/numbers.ts';
import { nameOfToken, percentOf, shortPoolId } from '../../format/prices.ts';
import { formatExactTime, parseTime } from '../../format/times.ts';
import { FavouriteButton } from '../../parts/favourite-button.tsx';
import { LiveNumber } from '../../parts/live-number.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import tableStyles from '../../parts/table.module.css';
import { TokenBadge } from '../../parts/token-badge.tsx';
import { usdPriceOf } from './market-order.ts';
import type { MarketRow } from './market-rows.ts';
import styles from './markets.module.css';
import { livePrice, liveTargetUsd, type RowDetails } from './row-details.ts';

type MarketTableRowProps = {
  readonly row: MarketRow;
  /** Its place in the whole table, counted from 1, with the header. */
  readonly rowIndex: number;
  /** Undefined until it was in view. */
  readonly details: RowDetails | undefined;
  readonly hasDay: boolean;
  readonly notesId: string;
  readonly unit: Unit;
};

/** One market. It is drawn again only if something of it has changed. */
export const MarketTableRow = memo(function MarketTableRow({
  row,
  rowIndex,
  details,
  hasDay,
  notesId,
  unit,
}: MarketTableRowProps) {
  const { base, target, pair, poolIds, nodeId, nodePoolId, terms, path, volume, liquidity } = row;
  const price = livePrice(row, details);
  const isUsd = unit === 'USD';
  const targetUsd = liveTargetUsd(row, details);
  const shown = isUsd ? usdPriceOf(price, targetUsd) : price;
  const formatSum = isUsd ? formatUsd : formatCompact;
  const [baseName, targetName] = [nameOfToken(base), nameOfToken(target)];
  const whyNoUsd = isUsd && targetUsd === null ? `${NO_USD_PRICE}, ${targetName}` : undefined;
  const [note, ...moreNotes] = [
    (pair?.isAmbiguous || terms) && `pool ${shortPoolId(pair?.poolId ?? nodePoolId ?? '')}`,
    poolIds.length > 1 && `${poolIds.length} pairs`,
    terms,
  ].filter(Boolean);
  return (
    <tr aria-rowindex={rowIndex} className={styles.row}>
      <th scope="row">
        <span className={styles.market}>
          <FavouriteButton name={`${baseName}/${targetName}`} poolIds={poolIds} />
          <Link to={path} className={`${styles.name}${note === undefined ? '' : ` ${styles.twoLines}`}`}>
            <TokenBadge token={base} />
            <span className={styles.slash}>/</span>
            <span className={styles.target} title={target.tokenId}>
              {targetName}
            </span>
            {note !== undefined && (
              <span className={styles.pool} title={poolIds.join('\n')}>
                <span>{note}</span>
                {moreNotes.length > 0 && <span className={styles.more}>{` · ${moreNotes.join(' · ')}`}</span>}
              </span>
            )}
          </Link>
        </span>
      </th>
      <td className={tableStyles.number} title={titleOfPrice()}>
        <LiveNumber key={unit} value={shown}>
          {isUsd ? formatUsdPrice(shown) : formatPrice(shown)}
        </LiveNumber>
      </td>
      {hasDay && <Day row={row} details={details} price={price} notesId={notesId} />}
      <td className={tableStyles.number} title={volume === null && pair !== undefined ? whyNoUsd : undefined}>
        {formatSum(volume)}
      </td>
      <td
        className={tableStyles.number}
        title={isUsd && liquidity === null && nodeId !== undefined ? NO_USD_LIQUIDITY : undefined}
      >
        {formatSum(liquidity)}
      </td>
    </tr>
  );

  function titleOfPrice(): string | undefined {
    if (price === null) return undefined;
    if (!isUsd) return `${targetName} per ${baseName}`;
    return whyNoUsd ?? `${formatPrice(price)} ${targetName} per ${baseName}`;
  }
});

type DayProps = Pick<MarketTableRowProps, 'row' | 'details' | 'notesId'> & { readonly price: number | null };

/** What happened in the last day, up to the price that is shown. Nothing until it is read. */
function Day({ row, details, price, notesId }: DayProps) {
  const day = details?.day;
  const from = day === undefined ? row.dayStart : (day?.from ?? null);
  const percent = percentOf(price, from);
  const tone = percent === null || Math.abs(percent) < 0.005 ? 'muted' : percent > 0 ? 'up' : 'down';
  const since = hasGaps(details) ? parseTime(day?.fromTime) : undefined;
  const values = details?.sparkline;
  return (
    <>
      <td
        className={`${tableStyles.number} ${tableStyles[tone]}`}
        data-gaps={since !== undefined}
        aria-describedby={since === undefined ? undefined : notesId}
        title={since === undefined ? undefined : `Compared with ${formatExactTime(since)}`}
      >
        {from === undefined ? '' : formatPercent(percent)}
      </td>
      <td className={styles.chart}>
        {values && <Sparkline values={price === null ? values : [...values.slice(0, -1), price]} />}
      </td>
    </>
  );
}

/** Whether the recorded history of the last day has gaps, or begins later. */
export function hasGaps(details: RowDetails | undefined): boolean {
  return details?.day?.isComplete === false;
}
