import { useMemo } from 'react';
import { Link, Navigate } from 'react-router';
import { Page } from '../../app/page.tsx';
import { useUnit } from '../../app/unit.ts';
import { currentParameters } from '../../app/url-parameters.ts';
import { useGatewayQuery } from '../../client/hooks.ts';
import { withUnit } from '../../format/amounts.ts';
import { formatPrice, formatQuantity, formatUsd, formatUsdPrice } from '../../format/numbers.ts';
import { nameOfToken, shortPoolId } from '../../format/prices.ts';
import { Answered } from '../../parts/answered.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Panel } from '../../parts/panel.tsx';
import { SkeletonRows } from '../../parts/skeleton.tsx';
import { MarketsOfTickerDocument, type MarketsOfTickerQuery } from './choose-market.generated.ts';
import { nameOfMarket, unitOfPrice, usdOf } from './market.ts';
import styles from './market-view.module.css';
import { marketPath } from './market-view.tsx';
import { termsOfPool } from './pool-terms.ts';

/** Shown for a ticker id that several pools have: symbols are not unique. Pairs that share a pool are one market. */
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
          {(pairs) => <Choices tickerId={tickerId} pairs={pairs} />}
        </Answered>
      </Panel>
    </Page>
  );
}

type ChoicesProps = { readonly tickerId: string; readonly pairs: NonNullable<MarketsOfTickerQuery['pairs']> };

function Choices({ tickerId, pairs }: ChoicesProps) {
  const isUsd = useUnit() === 'USD';
  const pools = [...Map.groupBy(pairs, ({ id, poolPair }) => poolPair?.id ?? id).values()];
  const [only] = pairs;
  if (only !== undefined && pools.length === 1) {
    return <Navigate to={marketPath(tickerId, only.poolId, currentParameters())} replace />;
  }
  return (
    <ul className={styles.choices}>
      {pools.map(([pair, ...others]) => {
        if (pair === undefined) return null;
        const { id, poolId, baseToken, targetToken, ticker, poolPair } = pair;
        const market = { base: baseToken, target: targetToken };
        const notes = [
          `pool ${shortPoolId(poolId)}`,
          poolPair === null && 'no pool on the node',
          poolPair?.poolId != null && termsOfPool(poolPair),
          others.length > 0 && `${others.length + 1} pairs trade in it`,
        ];
        const volumeUsd = usdOf([ticker?.targetVolume || null, targetToken], [ticker?.baseVolume, baseToken]);
        return (
          <li key={id}>
            <Link to={marketPath(tickerId, poolId)}>{nameOfMarket(market)}</Link>
            <span>
              {isUsd
                ? `${formatUsdPrice(usdOf([ticker?.lastPrice, targetToken]))} per ${nameOfToken(baseToken)}`
                : withUnit(formatPrice(ticker?.lastPrice), unitOfPrice(market))}
            </span>
            <span>
              {`24 h volume ${isUsd ? formatUsd(volumeUsd) : withUnit(formatQuantity(ticker?.baseVolume), nameOfToken(baseToken))}`}
            </span>
            <span className={styles.id} title={poolId}>
              {notes.filter(Boolean).join(' · ')}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
