import { useMemo } from 'react';
import { Link } from 'react-router';
import { Page } from '../../app/page.tsx';
import { useGatewayQuery } from '../../client/hooks.ts';
import { formatPrice, formatQuantity } from '../../format/numbers.ts';
import { shortId } from '../../format/prices.ts';
import { Answered } from '../../parts/answered.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Panel } from '../../parts/panel.tsx';
import { SkeletonRows } from '../../parts/skeleton.tsx';
import { MarketsOfTickerDocument } from './choose-market.generated.ts';
import { nameOfMarket, unitOfPrice } from './market.ts';
import styles from './market-view.module.css';
import { marketPath } from './market-view.tsx';

/** Shown for a ticker id that several markets have: symbols are not unique. */
export function ChooseMarket({ tickerId }: { readonly tickerId: string }) {
  const answer = useGatewayQuery(
    MarketsOfTickerDocument,
    useMemo(() => ({ tickerId }), [tickerId]),
  );
  return (
    <Page
      title={tickerId}
      description="Several markets have this ticker id, because symbols are not unique. Choose one."
    >
      <Panel title="Markets with this ticker id" query={answer.query} isBusy={answer.isLoading} isFlush>
        <Answered
          answer={answer}
          pick={({ pairs }) => pairs}
          at={['pairs']}
          skeleton={<SkeletonRows rows={3} />}
          empty={<EmptyState title={`No market is called ${tickerId}`} />}
        >
          {(pairs) => (
            <ul className={styles.choices}>
              {pairs.map(({ id, poolId, baseToken, targetToken, ticker, poolPair }) => {
                const market = { base: baseToken, target: targetToken };
                return (
                  <li key={id}>
                    <Link to={marketPath(tickerId, poolId)}>{nameOfMarket(market)}</Link>
                    <span>{`${formatPrice(ticker?.lastPrice)} ${unitOfPrice(market)}`}</span>
                    <span>{`24 h volume ${formatQuantity(ticker?.baseVolume)}`}</span>
                    <span className={styles.id} title={poolId}>
                      {`pool id ${shortId(poolId, 8)}${poolPair === null ? ', no pool on the node' : ''}`}
                    </span>
                  </li>
                );
              })}
            </ul>
          )}
        </Answered>
      </Panel>
    </Page>
  );
}
