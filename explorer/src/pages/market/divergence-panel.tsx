import { useMemo, useRef } from 'react';
import { useGatewayQuery } from '../../client/hooks.ts';
import { useIsWatched } from '../../client/visibility.ts';
import { formatPercent, formatPrice } from '../../format/numbers.ts';
import { Answered, errorsAt } from '../../parts/answered.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Freshness } from '../../parts/freshness.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import tableStyles from '../../parts/table.module.css';
import { MarketDivergenceDocument } from './divergence.generated.ts';
import styles from './divergence.module.css';
import { comparedPrices, meaningOfDivergence } from './divergence-text.ts';
import { isOfV3, type Market, unitOfPrice } from './market.ts';

type DivergencePanelProps = { readonly market: Market; readonly poolId: string };

/** How far pool, last trade, newest trade on the chain and order book are apart, and what that means. */
export function DivergencePanel({ market, poolId }: DivergencePanelProps) {
  const element = useRef<HTMLDivElement>(null);
  const isWatched = useIsWatched(element);
  const answer = useGatewayQuery(
    MarketDivergenceDocument,
    useMemo(() => ({ poolId }), [poolId]),
    {
      refresh: 'each-height',
      pause: !isWatched,
    },
  );
  const isHostMissing = errorsAt(answer.errors, ['pair', 'divergence', 'bookMidPrice']).length > 0;

  return (
    <Panel
      title="Divergence"
      query={answer.query}
      freshness={<Freshness height={answer.height} />}
      isBusy={answer.isLoading}
      isFlush
    >
      <div ref={element} className={styles.content} data-rows={isOfV3(market) ? 4 : 3}>
        <Answered
          answer={answer}
          pick={({ pair }) => pair?.divergence && comparedPrices(pair.divergence, isOfV3(market))}
          at={['pair', 'divergence']}
          skeleton={
            <div className={styles.skeleton}>
              <Skeleton lines={5} />
            </div>
          }
          empty={<EmptyState title="There is no pool to compare with" />}
        >
          {(compared) => (
            <>
              <table className={`${tableStyles['table']} ${tableStyles['fixed']}`}>
                <caption className="visually-hidden">
                  {`Prices of the market in ${unitOfPrice(market)}, and how far they are from that of the pool`}
                </caption>
                <thead>
                  <tr>
                    <th scope="col">Price from</th>
                    <th scope="col" className={tableStyles['number']}>
                      {unitOfPrice(market)}
                    </th>
                    <th scope="col" className={tableStyles['number']}>
                      Against the pool
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {compared.rows.map(({ name, price, percent }) => (
                    <tr key={name}>
                      <th scope="row" className={styles.name}>
                        {name}
                      </th>
                      <td className={tableStyles['number']} translate="no">
                        {formatPrice(price)}
                      </td>
                      <td className={tableStyles['number']} translate="no">
                        {percent === undefined ? '' : formatPercent(percent)}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
              <p className={styles.text}>{meaningOfDivergence(compared)}</p>
              {isHostMissing && <p className={styles.text}>The order book cannot be read now.</p>}
            </>
          )}
        </Answered>
      </div>
    </Panel>
  );
}
