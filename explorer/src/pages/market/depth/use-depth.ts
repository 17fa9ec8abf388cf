import { useMemo } from 'react';
import type { GatewayError } from '../../../client/errors.ts';
import { requestOf, type SentQuery, useGatewayQuery } from '../../../client/hooks.ts';
import { errorsAt } from '../../../parts/answered.tsx';
import { type Market, poolKeyOf } from '../market.ts';
import {
  DepthOfPoolIdDocument,
  type DepthOfPoolIdQueryVariables,
  MarketDepthDocument,
  PoolDepthDocument,
  type PoolDepthQuery,
} from './depth.generated.ts';
import { curveOfLadder, curveOfPool, type DepthCurve } from './depth-curve.ts';
import { percentsOf, type Range } from './ranges.ts';

/** The depth of a market. */
export type Depth = {
  readonly curve: DepthCurve | undefined;
  /** Whether the order book is part of it. */
  readonly hasBook: boolean;
  readonly isLoading: boolean;
  readonly errors: readonly GatewayError[];
  readonly height: number | undefined;
  readonly query: SentQuery;
  retry(): void;
};

/** Reads the depth of pool and order book at each height. If the book cannot be read, and for a pool alone, that of the pool. */
export function useDepth(market: Market, range: Range, pause: boolean): Depth {
  const { pair, pool, isInverse, base, target } = market;
  const { levels, stepPercent } = range;
  const hasPool = pool !== undefined;
  const ofMarket = useGatewayQuery(
    MarketDepthDocument,
    useMemo(() => ({ poolId: pair?.poolId ?? '', levels, stepPercent }), [pair?.poolId, levels, stepPercent]),
    { refresh: 'each-height', pause: pause || pair === undefined || !hasPool },
  );
  const ladder = ofMarket.data?.pair?.depthLadder;
  const needsPool = pair === undefined || (!ofMarket.isLoading && ladder == null);

  const { token1Id, token2Id, poolId } = poolKeyOf(market);
  const request = useMemo(() => {
    const percents = percentsOf(range);
    return poolId === undefined
      ? requestOf(PoolDepthDocument, { token1Id, token2Id, percents })
      : requestOf<PoolDepthQuery, DepthOfPoolIdQueryVariables>(DepthOfPoolIdDocument, { poolId, percents });
  }, [token1Id, token2Id, poolId, range]);
  const ofPool = useGatewayQuery(request.document, request.variables, {
    refresh: 'each-height',
    pause: pause || !hasPool || !needsPool,
  });
  const poolDepth = ofPool.data?.poolPair;

  const curve = useMemo(() => {
    if (ladder != null) return curveOfLadder(ladder);
    if (poolDepth == null) return undefined;
    return curveOfPool(poolDepth, { isInverse, baseDecimals: base.decimals, targetDecimals: target.decimals });
  }, [ladder, poolDepth, isInverse, base.decimals, target.decimals]);

  const { isLoading, errors, height, query, retry } = needsPool ? ofPool : ofMarket;
  const path = needsPool ? ['poolPair', 'depth'] : ['pair', 'depthLadder'];
  return { curve, hasBook: ladder != null, isLoading, errors: errorsAt(errors, path), height, query, retry };
}
