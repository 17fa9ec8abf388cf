import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useClient } from 'urql';
import { readErrors } from '../../../client/errors.ts';
import { type Answer, requestOf, useFollow, useGatewayQuery } from '../../../client/hooks.ts';
import { type Market, poolKeyOf } from '../market.ts';
import { type ChartCandle, isGapBefore, mergeCandles, toChartCandle } from './candle.ts';
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

type Older = { readonly key: string; readonly candles: readonly ChartCandle[]; readonly isAtStart: boolean };

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
  const answer = useGatewayQuery(newest.document, newest.variables, { pause });
  const loaded = useMemo(() => convert(answer.data?.poolPair?.candles), [answer.data, convert]);

  const [pushed, setPushed] = useState<{ readonly key: string; readonly candles: readonly ChartCandle[] }>();
  const ofKey = pushed?.key === key ? pushed.candles : NO_CANDLES;
  useFollow(LiveCandleDocument, variables, {
    pause: pause || answer.data?.poolPair?.candles == null,
    onUpdate({ candles }) {
      const [candle] = convert([candles]);
      if (candle === undefined) return;
      if (isGapBefore(candle, mergeCandles(loaded, ofKey))) answer.retry();
      setPushed({ key, candles: mergeCandles(ofKey, [candle]) });
    },
  });

  const [older, setOlder] = useState<Older>();
  const olderOfKey = older?.key === key ? older : undefined;
  const candles = useMemo(
    () => mergeCandles(olderOfKey?.candles ?? NO_CANDLES, loaded, ofKey),
    [olderOfKey, loaded, ofKey],
  );
  // Candles without a price are among those of a page, and not among those that are shown.
  const found = answer.data?.poolPair?.candles ?? [];
  const isAtStart = olderOfKey?.isAtStart ?? (answer.data !== undefined && found.length < PAGE);

  const inProgress = useRef<string>(undefined);
  const [loadingKey, setLoadingKey] = useState<string>();
  const isMounted = useRef(true);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);

  async function loadOlder(): Promise<void> {
    const [oldest] = candles;
    if (oldest === undefined || isAtStart || inProgress.current === key) return;
    inProgress.current = key;
    setLoadingKey(key);
    const sent = requestUpTo(new Date(oldest.openTime).toISOString());
    const result = await client.query(sent.document, sent.variables, { requestPolicy: 'network-only' }).toPromise();
    if (inProgress.current === key) inProgress.current = undefined;
    if (!isMounted.current) return;
    setLoadingKey((current) => (current === key ? undefined : current));
    const page = result.data?.poolPair?.candles;
    if (page == null || readErrors(result.error).length > 0) return;
    setOlder((current) => ({
      key,
      candles: mergeCandles(current?.key === key ? current.candles : NO_CANDLES, convert(page)),
      isAtStart: page.length < PAGE,
    }));
  }

  return { candles, answer, isLoadingOlder: loadingKey === key, isAtStart, loadOlder: () => void loadOlder() };
}

const NO_CANDLES: readonly ChartCandle[] = [];
