import { type ReactNode, useMemo } from 'react';
import { Navigate } from 'react-router';
import { currentParameters } from '../../app/url-parameters.ts';
import { requestOf, useFollow, useGatewayQuery } from '../../client/hooks.ts';
import { useLastKnown } from '../../client/last-known.ts';
import { errorsAt } from '../../parts/answered.tsx';
import { PoolByIdDocument, PoolDocument, PoolPricesDocument, type PoolQuery } from './market.generated.ts';
import { figuresOfPool, marketOfPool, poolKeyOf } from './market.ts';
import { MarketSkeleton, MarketView, marketPath } from './market-view.tsx';
import { type PoolName, poolPath } from './pool-id.ts';
import { UnreadableMarket } from './unknown-market.tsx';

type PoolMarketProps = {
  readonly name: PoolName;
  /** Shown if the exchange has no such pool. */
  readonly otherwise: ReactNode;
};

/** A pool of the node without a market, live. In V1 it has no order book. */
export function PoolMarket({ name, otherwise }: PoolMarketProps) {
  const { document, variables } = useMemo(
    () =>
      name.kind === 'pair'
        ? requestOf<PoolQuery, { poolId: string }>(PoolByIdDocument, { poolId: name.poolId })
        : requestOf(PoolDocument, { token1Id: name.token1Id, token2Id: name.token2Id }),
    [name],
  );
  const answer = useGatewayQuery(document, variables);
  const errors = errorsAt(answer.errors, ['poolPair']);
  const pool = useLastKnown(answer.data?.poolPair ?? undefined, errors.length > 0);
  const market = useMemo(() => pool && marketOfPool(pool), [pool]);
  const figures = useMemo(() => pool && figuresOfPool(pool), [pool]);
  useFollow(
    PoolPricesDocument,
    { pool: market === undefined ? { token1Id: '', token2Id: '' } : poolKeyOf(market) },
    { pause: market === undefined },
  );

  // A pool has the name and the direction of its market wherever it is shown.
  const pair = pool?.pairs?.[0];
  if (pair !== undefined) return <Navigate to={marketPath(pair.tickerId, pair.poolId, currentParameters())} replace />;
  if (pool !== undefined && market !== undefined && figures !== undefined) {
    // Two tokens are a name for now: another pool of them can become the most liquid one.
    if (name.kind === 'tokens' && pool.poolId != null) {
      return <Navigate to={{ pathname: poolPath('', '', pool.poolId), search: String(currentParameters()) }} replace />;
    }
    return <MarketView market={market} figures={figures} query={answer.query} poolErrors={[]} />;
  }
  if (answer.isLoading) return <MarketSkeleton title="Pool" hasBook={name.kind === 'pair'} />;
  if (errors.length > 0) return <UnreadableMarket name="Pool" tickerId={null} errors={errors} retry={answer.retry} />;
  return otherwise;
}
