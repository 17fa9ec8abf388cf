import { Link } from 'react-router';
import { formatAmount, formatExactAmount } from '../../../format/amounts.ts';
import { formatInteger, formatPrice } from '../../../format/numbers.ts';
import { nameOfToken } from '../../../format/prices.ts';
import { CopyableId } from '../../../parts/copyable-id.tsx';
import { RelativeTime } from '../../../parts/relative-time.tsx';
import tableStyles from '../../../parts/table.module.css';
import { blockPath } from '../../chain/use-blocks.ts';
import { type Market, nameOfMarket } from '../market.ts';
import { shownTrade, type Trade } from './trade.ts';
import styles from './trades.module.css';

type TradesTableProps = {
  readonly market: Market;
  readonly trades: readonly Trade[];
  /** Trades of blocks above it flash once. */
  readonly newAbove: number;
};

/** Trades, newest first. A phone has no room for what was paid, and for the transaction. */
export function TradesTable({ market, trades, newAbove }: TradesTableProps) {
  const number = tableStyles['number'];
  const [base, target] = [nameOfToken(market.base), nameOfToken(market.target)];
  return (
    <table className={`${tableStyles['table']} ${styles.table}`}>
      <caption className="visually-hidden">{`Trades of ${nameOfMarket(market)}, newest first`}</caption>
      <thead>
        <tr>
          <th scope="col">Side</th>
          <th scope="col" className={number}>
            {`Price (${target})`}
          </th>
          <th scope="col" className={number}>
            {`Amount (${base})`}
          </th>
          <th scope="col" className={`${number} ${styles.wide}`}>
            {`Total (${target})`}
          </th>
          <th scope="col" className={number}>
            Age
          </th>
          <th scope="col" className={`${number} ${styles.height}`}>
            Height
          </th>
          <th scope="col" className={`${styles.wide} ${styles.transaction}`}>
            Transaction
          </th>
        </tr>
      </thead>
      <tbody>
        {trades.map((trade) => (
          <TradeRow key={trade.id} market={market} trade={trade} isNew={trade.beaconHeight > newAbove} />
        ))}
      </tbody>
    </table>
  );
}

type TradeRowProps = { readonly market: Market; readonly trade: Trade; readonly isNew: boolean };

function TradeRow({ market, trade, isNew }: TradeRowProps) {
  const number = tableStyles['number'];
  const { isBuy, price, base, target } = shownTrade(trade, market);
  const { beaconHeight, time, transactionId, step, steps } = trade;
  return (
    <tr className={isBuy ? styles.buy : styles.sell} data-new={isNew || undefined}>
      <td className={styles.side}>{isBuy ? 'Buy' : 'Sell'}</td>
      <td className={`${number} ${styles.price}`} translate="no">
        {formatPrice(price)}
      </td>
      <td className={number} translate="no" title={formatExactAmount(base, market.base.decimals)}>
        {formatAmount(base, market.base.decimals)}
      </td>
      <td
        className={`${number} ${styles.wide}`}
        translate="no"
        title={formatExactAmount(target, market.target.decimals)}
      >
        {formatAmount(target, market.target.decimals)}
      </td>
      <td className={number}>
        <RelativeTime time={time} />
      </td>
      <td className={`${number} ${styles.height}`} translate="no">
        <Link to={blockPath(beaconHeight)} aria-label={`Block ${formatInteger(beaconHeight)}`}>
          {formatInteger(beaconHeight)}
        </Link>
      </td>
      <td className={styles.wide}>
        <CopyableId id={transactionId} what="hash of the transaction" />
        {steps > 1 && <span className={styles.step}>{`pool ${step + 1} of ${steps} on its route`}</span>}
      </td>
    </tr>
  );
}
