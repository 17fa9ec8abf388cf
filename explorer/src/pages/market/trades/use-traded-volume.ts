import { useMemo } from 'react';
import { useLastingKeys } from '../../../app/service-status.ts';
import { useGatewayQuery } from '../../../client/hooks.ts';
import { type Market, type TradedAmounts, whyNoVolume } from '../market.ts';
import { TradedVolumeDocument } from './trades.generated.ts';

/** What changed hands in the pool of a market in 24 hours, by the trades of its blocks. */
export type TradedVolume = TradedAmounts & {
  /** Number of trades. */
  readonly trades: number;
  /** Since when the trades are known. */
  readonly since: string;
  /** Whether all trades of the 24 hours are known. */
  readonly isComplete: boolean;
};

/** Reads the exact volume of a pool of V3 at each height. Undefined in V1, and while no trade is known: `whyNone` says why. */
export function useTradedVolume({ pool, isInverse }: Market): {
  readonly traded: TradedVolume | undefined;
  readonly whyNone: string;
} {
  const poolId = pool?.poolId ?? undefined;
  const isUnrecorded = useLastingKeys().includes('history');
  const answer = useGatewayQuery(
    TradedVolumeDocument,
    useMemo(() => ({ poolId: poolId ?? '' }), [poolId]),
    { refresh: 'each-height', pause: poolId === undefined || isUnrecorded },
  );
  const volume = answer.data?.pool?.volume;
  const whyNone = whyNoVolume(!isUnrecorded, answer);
  if (volume == null) return { traded: undefined, whyNone };
  const { token1, token2, ...known } = volume;
  const [base, target] = isInverse ? [token1, token2] : [token2, token1];
  return { traded: { base, target, ...known }, whyNone };
}
