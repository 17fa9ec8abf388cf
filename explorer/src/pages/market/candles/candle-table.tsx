import { formatPrice, formatQuantity } from '../../../format/numbers.ts';
import { nameOfToken } from '../../../format/prices.ts';
import { Button } from '../../../parts/button.tsx';
import { Scroller } from '../../../parts/scroller.tsx';
import tableStyles from '../../../parts/table.module.css';
import { type Market, unitOfPrice } from '../market.ts';
import styles from './candles.module.css';
import type { Candles } from './use-candles.ts';

type CandleTableProps = { readonly market: Market; readonly candles: Candles };

/** The candles as a table, newest first: for those who do not see the chart, and for exact figures. */
export function CandleTable({ market, candles: { candles, isAtStart, isLoadingOlder, loadOlder } }: CandleTableProps) {
  const number = tableStyles['number'];
  return (
    <Scroller label="Candles as a table" className={styles.table}>
      <table className={tableStyles['table']}>
        <caption className="visually-hidden">{`Candles, newest first, in ${unitOfPrice(market)}`}</caption>
        <thead>
          <tr>
            <th scope="col">From (UTC)</th>
            <th scope="col" className={number}>
              Open
            </th>
            <th scope="col" className={number}>
              High
            </th>
            <th scope="col" className={number}>
              Low
            </th>
            <th scope="col" className={number}>
              Close
            </th>
            <th scope="col" className={number}>
              {`Volume (${nameOfToken(market.base)})`}
            </th>
          </tr>
        </thead>
        <tbody translate="no">
          {candles.toReversed().map((candle) => (
            <tr key={candle.openTime}>
              <td>
                {`${new Date(candle.openTime).toISOString().slice(0, 16).replace('T', ' ')}${candle.isComplete ? '' : ' *'}`}
              </td>
              <td className={number}>{formatPrice(candle.open)}</td>
              <td className={number}>{formatPrice(candle.high)}</td>
              <td className={number}>{formatPrice(candle.low)}</td>
              <td className={number}>{formatPrice(candle.close)}</td>
              <td
                className={number}
              >{`${candle.isVolumeExact || candle.volume === null ? '' : '≥ '}${formatQuantity(candle.volume)}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!isAtStart && (
        <p className={styles.older}>
          <Button onClick={loadOlder} isBusy={isLoadingOlder}>
            {isLoadingOlder ? 'Loading…' : 'Load older candles'}
          </Button>
        </p>
      )}
    </Scroller>
  );
}
