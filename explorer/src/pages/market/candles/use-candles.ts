import { useCallback, useMemo, useState } from 'react';
import { useClient } from 'urql';
import { readErrors } from '../../../client/errors.ts';
import { type Answer, requestOf, useFollow, useGatewayQuery } from '../../../client/hooks.ts';
import { type Market, poolKeyOf } from '../market.ts';
import { type ChartCandle, isGapBefore, isJoined, mergeCandles, toChartCandle } from './candle.ts';
import {
  type CandleFieldsFragment,
  CandlesDocument,
  CandlesOfPoolDocument,
  type CandlesOfPoolQueryVariables,
  type CandlesQuery,
  LiveCandleDocument,
} from './candles.generated.ts';
import type { Interval } from './intervals.ts';

/** Candles that are requested at once. */
const PAGE = 300;

/** The candles of a market, as far as they are loaded. */
export type Candles = {
  readonly candles: readonly ChartCandle[];
  /** The request of the newest candles. */
  readonly answer: Answer<CandlesQuery>;
  readonly isLoadingOlder: boolean;
  /** Whether there are no older ones. */
  readonly isAtStart: boolean;
  loadOlder(): void;
};

/** All candles of an interval, when one was pushed or older ones were loaded. */
type Known = {
  readonly candles: readonly ChartCandle[];
  readonly isAtStart: boolean;
  /** The newest answer that is among them. */
  readonly loaded: readonly ChartCandle[];
};

/** Loads the newest candles, follows the current one, and loads older ones on demand. */
export function useCandles(market: Market, { interval }: Interval, pause: boolean): Candles {
  const client = useClient();
  const { token1Id, token2Id, poolId } = poolKeyOf(market);
  const { isInverse } = market;
  const baseDecimals = market.base.decimals;
  const key = `${poolId ?? `${token1Id}-${token2Id}`} ${interval}`;
  const variables = useMemo(
    () => ({ token1Id, token2Id, ...(poolId !== undefined && { poolId }), interval, isInverse }),
    [token1Id, token2Id, poolId, interval, isInverse],
  );
  const requestUpTo = useCallback(
    (to: string | null) =>
      poolId === undefined
        ? requestOf(CandlesDocument, { token1Id, token2Id, interval, isInverse, last: PAGE, to })
        : requestOf<CandlesQuery, CandlesOfPoolQueryVariables>(CandlesOfPoolDocument, {
            poolId,
            interval,
            isInverse,
            last: PAGE,
            to,
          }),
    [token1Id, token2Id, poolId, interval, isInverse],
  );
  const convert = useCallback(
    (list: readonly CandleFieldsFragment[] | null | undefined) =>
      (list ?? []).flatMap((candle) => toChartCandle(candle, { isInverse, baseDecimals }) ?? []),
    [isInverse, baseDecimals],
  );

  const newest = useMemo(() => requestUpTo(null), [requestUpTo]);
  const given = useGatewayQuery(newest.document, newest.variables, { pause });
  // Candles of the interval before would be drawn as those of this one.
  const answer = given.isOutdated ? { ...given, data: undefined, errors: [], isLoading: true } : given;
  const page = answer.data?.poolPair?.candles;
  const loaded = useMemo(() => convert(page), [page, convert]);

  const [knownByKey, setKnownByKey] = useState<Readonly<Record<string, Known>>>({});
  const stored = knownByKey[key];
  const known = stored !== undefined && isJoined(stored.candles, loaded) ? stored : undefined;
  const candles = useMemo(() => {
    if (known === undefined) return loaded;
    return known.loaded === loaded ? known.candles : mergeCandles(known.candles, loaded);
  }, [known, loaded]);
  // Candles without a price are among those of a page, and not among those that are shown.
  const isAtStart = known?.isAtStart ?? (page != null && page.length < PAGE);

  useFollow(LiveCandleDocument, variables, {
    pause: pause || page == null,
    onUpdate(update) {
      const [candle] = convert([update.candles]);
      if (candle === undefined) return;
      // The newest candles are loaded again, with this one.
      if (isGapBefore(candle, candles)) answer.retry();
      else setKnownByKey((all) => ({ ...all, [key]: { loaded, candles: mergeCandles(candles, [candle]), isAtStart } }));
    },
  });

  const [loadingKey, setLoadingKey] = useState<string>();

  async function loadOlder(): Promise<void> {
    const [oldest] = candles;
    if (oldest === undefined || isAtStart || loadingKey === key) return;
    setLoadingKey(key);
    setKnownByKey((all) => ({ ...all, [key]: { loaded, candles, isAtStart } }));
    const sent = requestUpTo(new Date(oldest.openTime).toISOString());
    const result = await client.query(sent.document, sent.variables, { requestPolicy: 'network-only' }).toPromise();
    setLoadingKey((current) => (current === key ? undefined : current));
    const older = result.data?.poolPair?.candles;
    if (older == null || readErrors(result.error).length > 0) return;
    setKnownByKey((all) => {
      const before = all[key];
      if (before?.candles[0]?.openTime !== oldest.openTime) return all;
      const joined = mergeCandles(convert(older), before.candles);
      return { ...all, [key]: { ...before, candles: joined, isAtStart: older.length < PAGE } };
    });
  }

  return { candles, answer, isLoadingOlder: loadingKey === key, isAtStart, loadOlder: () => void loadOlder() };
}
