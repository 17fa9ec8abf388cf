import chartStyles from '../../../charts/charts.module.css';
import { formatPercent, formatPrice, formatQuantity } from '../../../format/numbers.ts';
import { nameOfToken, percentOf } from '../../../format/prices.ts';
import tableStyles from '../../../parts/table.module.css';
import type { MarketToken } from '../market.ts';
import type { ChartCandle } from './candle.ts';
import styles from './candles.module.css';

type CandleLegendProps = { readonly candle: ChartCandle | undefined; readonly base: MarketToken };

/** The figures of one candle: of the one under the pointer, or the newest one. */
export function CandleLegend({ candle, base }: CandleLegendProps) {
  if (candle === undefined) return <div className={`${chartStyles.legend} ${styles.legend}`} />;
  const { open, high, low, close, volume, isVolumeExact } = candle;
  const percent = percentOf(close, open);
  const tone = close < open ? tableStyles['down'] : tableStyles['up'];
  return (
    <div className={`${chartStyles.legend} ${styles.legend}`}>
      <span>
        <span>Open</span> <b translate="no">{formatPrice(open)}</b>
      </span>
      <span>
        <span>High</span> <b translate="no">{formatPrice(high)}</b>
      </span>
      <span>
        <span>Low</span> <b translate="no">{formatPrice(low)}</b>
      </span>
      <span>
        <span>Close</span> <b translate="no">{formatPrice(close)}</b>{' '}
        <span className={tone} translate="no">
          {formatPercent(percent)}
        </span>
      </span>
      {volume !== null && (
        <span>
          <span>{isVolumeExact ? 'Volume' : 'Volume at least'}</span> <b translate="no">{formatQuantity(volume)}</b>{' '}
          <span translate="no">{nameOfToken(base)}</span>
        </span>
      )}
      {!candle.isComplete && <span>Some heights are missing</span>}
    </div>
  );
}
