import { useMemo, useState } from 'react';
import type { GatewayError } from '../../../client/errors.ts';
import { useGatewayQuery } from '../../../client/hooks.ts';
import { MarketDivergenceDocument } from '../divergence.generated.ts';

/**
 * Why the book of the market-data host cannot be read now; empty if it can. Its subscription sends nothing then. The query of the
 * divergence panel has the error, at each height. After a failure, the subscription sends the book again.
 *
 * @param book the newest update of the subscription
 */
export function useBookFailure(poolId: string | undefined, book: unknown, pause: boolean): readonly GatewayError[] {
  const { errors } = useGatewayQuery(
    MarketDivergenceDocument,
    useMemo(() => ({ poolId: poolId ?? '' }), [poolId]),
    { refresh: 'each-height', pause: pause || poolId === undefined },
  );
  const [failed, setFailed] = useState({ errors, book });
  if (errors !== failed.errors) setFailed({ errors, book });
  return book === failed.book ? errors.filter(({ path: [, , field] }) => field === 'bookMidPrice') : [];
}
