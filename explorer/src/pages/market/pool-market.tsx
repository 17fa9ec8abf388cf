import { useMemo } from 'react';
import { Navigate } from 'react-router';
import { currentParameters } from '../../app/url-parameters.ts';
import { useFollow, useGatewayQuery } from '../../client/hooks.ts';
import { useLastKnown } from '../../client/last-known.ts';
import { errorsAt } from '../../parts/answered.tsx';
import { PoolDocument, PoolPricesDocument } from './market.generated.ts';
import { figuresOfPool, marketOfPool } from './market.ts';
import { MarketSkeleton, MarketView, marketPath } from './market-view.tsx';
import { UnknownPool, UnreadableMarket } from './unknown-market.tsx';

type PoolMarketProps = { readonly token1Id: string; readonly token2Id: string };

/** A pool of the node without a market, live. It has no order book. */
export function PoolMarket({ token1Id, token2Id }: PoolMarketProps) {
  const tokens = useMemo(() => ({ token1Id, token2Id }), [token1Id, token2Id]);
  const answer = useGatewayQuery(PoolDocument, tokens);
  const errors = errorsAt(answer.errors, ['poolPair']);
  const pool = useLastKnown(answer.data?.poolPair ?? undefined, errors.length > 0);
  const market = useMemo(() => pool && marketOfPool(pool), [pool]);
  const figures = useMemo(() => pool && figuresOfPool(pool), [pool]);
  useFollow(PoolPricesDocument, { pool: tokens }, { pause: pool === undefined });

  // A pool has the name and the direction of its market wherever it is shown.
  const pair = pool?.pairs?.[0];
  if (pair !== undefined) return <Navigate to={marketPath(pair.tickerId, pair.poolId, currentParameters())} replace />;
  if (pool !== undefined && market !== undefined && figures !== undefined) {
    return <MarketView market={market} figures={figures} query={answer.query} poolErrors={[]} />;
  }
  if (answer.isLoading) return <MarketSkeleton title="Pool" hasBook={false} />;
  if (errors.length > 0) return <UnreadableMarket name="Pool" tickerId={null} errors={errors} retry={answer.retry} />;
  return <UnknownPool />;
}
