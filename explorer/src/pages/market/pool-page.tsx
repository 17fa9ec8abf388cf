import { useMemo } from 'react';
import { useParams } from 'react-router';
import { PairMarket } from './pair-market.tsx';
import { parsePoolId } from './pool-id.ts';
import { PoolMarket } from './pool-market.tsx';
import { UnknownPool } from './unknown-market.tsx';

/**
 * A pool without a market: `/pool/<token id>-<token id>`, with a hash behind them in V3. A pool id of the market-data host shows
 * its market. In V3, two tokens alone name their most liquid pool.
 */
export function PoolPage() {
  const { poolId = '' } = useParams();
  const name = useMemo(() => parsePoolId(poolId), [poolId]);
  if (name === undefined) return <UnknownPool />;
  if (name.kind === 'pair') return <PairMarket key={poolId} tickerId={null} poolId={poolId} />;
  return <PoolMarket key={poolId} name={name} otherwise={<UnknownPool />} />;
}
