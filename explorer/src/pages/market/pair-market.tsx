import { useMemo } from 'react';
import { useFollow, useGatewayQuery } from '../../client/hooks.ts';
import { useLastKnown } from '../../client/last-known.ts';
import { useIsVisible } from '../../client/visibility.ts';
import { errorsAt } from '../../parts/answered.tsx';
import { ChooseMarket } from './choose-market.tsx';
import { MarketDocument, MarketLastTradeDocument, MarketPricesDocument } from './market.generated.ts';
import { figuresOfPair, marketOfPair, poolKeyOf } from './market.ts';
import { MarketSkeleton, MarketView } from './market-view.tsx';
import { PoolMarket } from './pool-market.tsx';
import { UnknownMarket, UnreadableMarket } from './unknown-market.tsx';

type PairMarketProps = { readonly tickerId: string | null; readonly poolId: string | null };

/** A market of the market-data host, live. */
export function PairMarket({ tickerId, poolId }: PairMarketProps) {
  const answer = useGatewayQuery(
    MarketDocument,
    useMemo(() => ({ tickerId, poolId }), [tickerId, poolId]),
  );
  const errors = errorsAt(answer.errors, ['pair']);
  const pair = useLastKnown(answer.data?.pair ?? undefined, errors.length > 0);
  const market = useMemo(() => pair && marketOfPair(pair), [pair]);
  const figures = useMemo(() => pair && figuresOfPair(pair), [pair]);
  const isVisible = useIsVisible();

  const pool = market === undefined ? NO_POOL : poolKeyOf(market);
  // The title of a tab in the background has the price, too.
  useFollow(MarketPricesDocument, { pool }, { pause: market?.pool === undefined });
  useFollow(MarketLastTradeDocument, { poolId: pair?.poolId ?? '' }, { pause: pair === undefined || !isVisible });

  if (market !== undefined && figures !== undefined) {
    const poolErrors = errorsAt(answer.errors, ['pair', 'poolPair']);
    return <MarketView market={market} figures={figures} query={answer.query} poolErrors={poolErrors} />;
  }
  const name = tickerId ?? 'Market';
  if (answer.isLoading) return <MarketSkeleton title={name} hasBook />;
  if (tickerId !== null && errors.some(({ code }) => code === 'AMBIGUOUS_TICKER')) {
    return <ChooseMarket tickerId={tickerId} />;
  }
  const otherwise =
    errors.length > 0 ? (
      <UnreadableMarket name={name} tickerId={tickerId} errors={errors} retry={answer.retry} />
    ) : (
      <UnknownMarket name={name} />
    );
  // The node has pools that the host does not list, and those that it lists also while the host cannot be read.
  if (tickerId !== null || poolId === null) return otherwise;
  return <PoolMarket name={{ kind: 'pair', poolId }} otherwise={otherwise} />;
}

const NO_POOL = { token1Id: '', token2Id: '' };
