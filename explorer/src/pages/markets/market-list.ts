import type { Client } from '@urql/core';
import { type GatewayError, isRetryable, readErrors, waitOf } from '../../client/errors.ts';
import type { SentQuery } from '../../client/hooks.ts';
import { createStore, type Store } from '../../client/store.ts';
import {
  type ListedPoolFragment,
  MarketsDocument,
  type MarketsQuery,
  MorePoolsDocument,
  type MorePoolsQuery,
} from './markets.generated.ts';

/** What the page lists, as the gateway sent it. */
export type MarketData = Pick<MarketsQuery, 'tokens' | 'pairs' | 'tickers'> & {
  /** Null if the node cannot be read. */
  readonly pools: readonly ListedPoolFragment[] | null;
  /** How many pools there are: more than `pools` while pages are on their way. */
  readonly totalPools: number;
  readonly height: number | undefined;
  /** Whether it has what happened to the prices in the last day. */
  readonly hasChange: boolean;
};

/** The list and what is wrong with it. */
export type MarketListState = {
  readonly data: MarketData | undefined;
  /** Of the newest attempt. */
  readonly errors: readonly GatewayError[];
  readonly query: SentQuery;
};

/** All markets and all pools of a session. It is there at once when the reader comes back to the page. */
export type MarketList = {
  readonly state: Store<MarketListState>;
  /** Loads the list and keeps it fresh, until the returned function is called. */
  follow(withChange: boolean): () => void;
  /** Loads it again now. */
  retry(): void;
};

type MarketListOptions = {
  readonly client: Client;
  readonly onRestored: (listener: () => void) => () => void;
};

const PAGE_SIZE = 500;

/** A list of one page. A longer one is loaded less often, so that no list costs more than another; what is on the screen is live. */
const REFRESH_MS = 60_000;
const FIRST_RETRY_MS = 3_000;

/** How often a later page is requested again, before the list begins again at its first page. */
const PAGE_RETRIES = 5;

/** A list that grows is shown no more often: finding and sorting its rows takes as long as loading a page. */
const SHOW_EVERY_MS = 1_000;

/** Creates the list. It requests nothing until somebody follows it. */
export function createMarketList({ client, onRestored }: MarketListOptions): MarketList {
  const queryOf = (size: number | null, withChange: boolean): SentQuery => ({
    document: MarketsDocument as SentQuery['document'],
    variables: { first: size, withChange },
  });
  const state = createStore<MarketListState>({ data: undefined, errors: [], query: queryOf(PAGE_SIZE, false) });
  /** Null is the default of the gateway, where the operator allows smaller pages only. */
  let first: number | null = PAGE_SIZE;
  /** When the list was complete last. */
  let loadedAt = Number.NEGATIVE_INFINITY;
  let failures = 0;
  let loadNow = () => {};

  /** Loads all pages. The first list is shown while it grows, a later one when it is complete. */
  async function load(withChange: boolean, isOver: () => boolean): Promise<void> {
    const { data, error } = await client.query(MarketsDocument, { first, withChange }).toPromise();
    if (isOver()) return;
    const errors = readErrors(error);
    if (first !== null && errors.some(({ code, path }) => code === 'BAD_USER_INPUT' && path[0] === 'poolPairs')) {
      first = null;
      return load(withChange, isOver);
    }
    failures = data == null || errors.some(isRetryable) ? failures + 1 : 0;
    if (data == null) {
      state.set({ ...state.get(), errors });
      return;
    }
    const { tokens, pairs, tickers, poolPairs, beaconHeight } = data;
    let page = poolPairs;
    let pools = page?.nodes ?? null;
    let shownAt = 0;
    const show = () => {
      shownAt = performance.now();
      const height = beaconHeight ?? undefined;
      const totalPools = poolPairs?.totalCount ?? 0;
      const data = { tokens, pairs, tickers, pools, totalPools, height, hasChange: withChange };
      state.set({ data, errors, query: queryOf(first, withChange) });
    };
    const isFirst = (state.get().data?.pools ?? null) === null;
    if (isFirst) show();
    while (page?.pageInfo.hasNextPage && page.pageInfo.endCursor !== null) {
      page = await loadPage(page.pageInfo.endCursor, withChange, isOver);
      if (isOver()) return;
      if (page === null) {
        failures += 1;
        break;
      }
      pools = [...(pools ?? []), ...page.nodes];
      if (isFirst && performance.now() - shownAt > SHOW_EVERY_MS) show();
    }
    // An old list is better than one that has lost its end.
    if (isFirst || page !== null || poolPairs === null) show();
    loadedAt = performance.now();
  }

  /** Loads a later page. The pages before it have cost points: if the gateway says how long to wait, this one is requested again. */
  async function loadPage(
    after: string,
    withChange: boolean,
    isOver: () => boolean,
  ): Promise<MorePoolsQuery['poolPairs']> {
    for (let retries = 0; ; retries += 1) {
      const { data, error } = await client.query(MorePoolsDocument, { first, after, withChange }).toPromise();
      const page = data?.poolPairs ?? null;
      const wanted = waitOf(readErrors(error));
      if (page !== null || wanted === 0 || retries === PAGE_RETRIES || isOver()) return page;
      await new Promise((resolve) => setTimeout(resolve, Math.max(wanted, FIRST_RETRY_MS * 2 ** retries)));
      if (isOver()) return null;
    }
  }

  function waitMs(withChange: boolean): number {
    const { data, errors } = state.get();
    if (failures > 0) return Math.max(waitOf(errors), Math.min(REFRESH_MS, FIRST_RETRY_MS * 2 ** (failures - 1)));
    if (data === undefined || (withChange && !data.hasChange)) return 0;
    const pages = Math.ceil(data.totalPools / (first ?? 50)) || 1;
    return Math.max(0, loadedAt + REFRESH_MS * pages - performance.now());
  }

  function follow(withChange: boolean): () => void {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let run = 0;

    async function loadAgain(): Promise<void> {
      clearTimeout(timer);
      run += 1;
      const own = run;
      const isReplaced = () => isOver || own !== run;
      await load(withChange, isReplaced);
      if (!isReplaced()) timer = setTimeout(loadAgain, waitMs(withChange));
    }

    const loadNowBefore = loadNow;
    function loadNowForThis(): void {
      failures = 0;
      void loadAgain();
    }
    loadNow = loadNowForThis;
    timer = setTimeout(loadAgain, waitMs(withChange));
    const endRestored = onRestored(loadNowForThis);
    return () => {
      isOver = true;
      clearTimeout(timer);
      // The page below a search goes on.
      if (loadNow === loadNowForThis) loadNow = loadNowBefore;
      endRestored();
    };
  }

  return { state, follow, retry: () => loadNow() };
}
