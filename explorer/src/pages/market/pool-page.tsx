import { useParams } from 'react-router';
import { PairMarket } from './pair-market.tsx';
import { parsePoolId } from './pool-id.ts';
import { PoolMarket } from './pool-market.tsx';
import { UnknownPool } from './unknown-market.tsx';

/** A pool without a market: `/pool/<token id>-<token id>`. A pool id of the market-data host shows its market. */
export function PoolPage() {
  const { poolId = '' } = useParams();
  const name = parsePoolId(poolId);
  if (name === undefined) return <UnknownPool />;
  if (name.kind === 'pair') return <PairMarket key={poolId} tickerId={null} poolId={poolId} />;
  return <PoolMarket key={poolId} token1Id={name.token1Id} token2Id={name.token2Id} />;
}
