import { Link } from 'react-router';
import { formatInteger, formatPercent, formatPrice } from '../../format/numbers.ts';
import { nameOfToken, shortPoolId } from '../../format/prices.ts';
import { Scroller } from '../../parts/scroller.tsx';
import tableStyles from '../../parts/table.module.css';
import { marketPath } from '../market/market-view.tsx';
import { poolPath } from '../market/pool-id.ts';
import styles from './chain.module.css';
import type { ChangedPool } from './changed-pools.ts';

type ChangedPoolsTableProps = {
  readonly pools: readonly ChangedPool[];
  /** How many pools the exchange has, and how many of them were compared at most. */
  readonly total: number;
  readonly compared: number;
};

/** The pools that a block has changed. */
export function ChangedPoolsTable({ pools, total, compared }: ChangedPoolsTableProps) {
  const of =
    total > compared ? `the ${formatInteger(compared)} largest of ${formatInteger(total)}` : formatInteger(total);
  return (
    <>
      <p
        className={styles.above}
      >{`Trades, deposits and withdrawals have changed ${formatInteger(pools.length)} of ${of} pools. The change is that since the block before.`}</p>
      {pools.length > 0 && (
        <Scroller label="Changed pools">
          <table className={tableStyles.table}>
            <thead>
              <tr>
                <th scope="col">Pool</th>
                <th scope="col" className={tableStyles.number}>
                  Price
                </th>
                <th scope="col" className={tableStyles.number}>
                  Change
                </th>
              </tr>
            </thead>
            <tbody translate="no">
              {pools.map(({ key, poolId, base, target, market, price, percent }) => (
                <tr key={key}>
                  <th scope="row">
                    <Link
                      to={
                        market
                          ? marketPath(market.tickerId, market.poolId)
                          : poolPath(base.tokenId, target.tokenId, poolId)
                      }
                      title={poolId ?? undefined}
                    >
                      {`${nameOfToken(base)}/${nameOfToken(target)}${poolId === null ? '' : ` (${shortPoolId(poolId)})`}`}
                    </Link>
                  </th>
                  <td className={tableStyles.number}>{formatPrice(price)}</td>
                  <td className={tableStyles.number}>{formatPercent(percent)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroller>
      )}
    </>
  );
}
