import { useEffect, useEffectEvent, useMemo, useState } from 'react';
import { useClient } from 'urql';
import { useLastingKeys } from '../../../app/service-status.ts';
import { type GatewayError, readErrors } from '../../../client/errors.ts';
import { requestOf, type SentQuery, useFollow, usePageQuery } from '../../../client/hooks.ts';
import { errorsAt } from '../../../parts/answered.tsx';
import {
  type AnsweredTrades,
  isAnswerOld,
  listTrades,
  MOST_TRADES,
  type PushedBlocks,
  type Trade,
  withBlock,
  withNewestPage,
  withOlderPage,
} from './trade.ts';
import { LiveTradesDocument, TradesDocument } from './trades.generated.ts';

/** Trades that are requested at once. */
const PAGE = 50;

/** The path of the trades in the answer. */
const PATH = ['pool', 'trades'];

/** The trades of a pool of V3, as far as they are loaded. */
export type Trades = {
  /** Newest first. */
  readonly trades: readonly Trade[];
  /** Trades of blocks above it are new: they came while the page was open. */
  readonly newAbove: number;
  /** The height up to which they are listed. */
  readonly height: number | undefined;
  /** Why some cannot be read now. */
  readonly errors: readonly GatewayError[];
  readonly isLoading: boolean;
  /** Whether the gateway records none, so that only those of new blocks are listed. */
  readonly isUnrecorded: boolean;
  /** Undefined if no older ones are known, or as many are listed as can be. */
  readonly loadOlder: (() => void) | undefined;
  readonly isLoadingOlder: boolean;
  readonly query: SentQuery;
  retry(): void;
};

/** Loads the newest trades of a pool, follows those of new blocks, and loads older ones on demand. */
export function useTrades(poolId: string, pause: boolean): Trades {
  const client = useClient();
  const isUnrecorded = useLastingKeys().includes('history');
  const isQueryPaused = pause || isUnrecorded;
  const variables = useMemo(() => ({ poolId, size: PAGE }), [poolId]);
  const answer = usePageQuery(TradesDocument, variables, { pause: isQueryPaused });
  const answerErrors = errorsAt(answer.errors, PATH);

  const [answered, setAnswered] = useState<AnsweredTrades>();
  const [taken, setTaken] = useState<{ readonly page: unknown; readonly height: number }>();
  const page = answer.data?.pool?.trades;
  const { height } = answer;
  if (page !== undefined && height !== undefined && (taken?.page !== page || taken.height !== height)) {
    setTaken({ page, height });
    // Null without an error: nothing is recorded yet.
    if (page !== null || answerErrors.length === 0) setAnswered(withNewestPage(answered, page ?? NO_TRADES, height));
  }

  const [pushed, setPushed] = useState<PushedBlocks>();
  const [liveErrors, setLiveErrors] = useState<readonly GatewayError[]>([]);
  useFollow(
    LiveTradesDocument,
    { poolId },
    {
      // What passes unseen is recorded nowhere.
      pause: pause && !isUnrecorded,
      onUpdate({ trades }) {
        setPushed((current) => withBlock(current, trades));
        setLiveErrors([]);
      },
      onError: setLiveErrors,
    },
  );

  const newest = pushed?.blocks[0]?.beaconHeight;
  const isOld = !isQueryPaused && answered !== undefined && isAnswerOld(answered, pushed);
  const requestAgain = useEffectEvent(answer.retry);
  // Once for each block, for as long as it is old.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the newest block is another one
  useEffect(() => {
    if (isOld) requestAgain();
  }, [isOld, newest]);

  const [isLoadingOlder, setIsLoadingOlder] = useState(false);
  const [olderErrors, setOlderErrors] = useState<readonly GatewayError[]>([]);
  async function loadOlder(after: string): Promise<void> {
    setIsLoadingOlder(true);
    const sent = client.query(
      TradesDocument,
      { poolId, size: answer.query.variables?.['size'], after },
      { requestPolicy: 'network-only' },
    );
    const { data, error } = await sent.toPromise();
    setIsLoadingOlder(false);
    setOlderErrors(errorsAt(readErrors(error), PATH));
    const older = data?.pool?.trades;
    if (older == null) return;
    setAnswered((current) => (current?.endCursor === after ? withOlderPage(current, older) : current));
  }

  const trades = useMemo(() => listTrades(answered, pushed), [answered, pushed]);
  const errors = [...liveErrors, ...answerErrors, ...olderErrors];
  const cursor = answered?.endCursor ?? null;
  return {
    trades,
    newAbove: answered?.height ?? pushed?.from ?? 0,
    height: newest ?? answered?.height,
    errors,
    isLoading: answered === undefined && errors.length === 0 && (!isUnrecorded || pushed === undefined),
    isUnrecorded,
    loadOlder: cursor === null || trades.length >= MOST_TRADES ? undefined : () => void loadOlder(cursor),
    isLoadingOlder,
    query: isUnrecorded ? requestOf(LiveTradesDocument, { poolId }) : answer.query,
    retry: answer.retry,
  };
}

const NO_TRADES = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
