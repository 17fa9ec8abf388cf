import { useParams, useSearchParams } from 'react-router';
import { PairMarket } from './pair-market.tsx';

/** One market of the market-data host: `/market/<ticker id>`. `?pool=` names one of several with the same ticker id. */
export function MarketPage() {
  const { tickerId = '' } = useParams();
  const [parameters] = useSearchParams();
  const poolId = parameters.get('pool');
  return <PairMarket key={`${tickerId} ${poolId}`} tickerId={tickerId} poolId={poolId} />;
}
