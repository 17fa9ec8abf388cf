import { poolPairAt } from '../domain/exchange.ts';
import {
  type Divergence,
  type Market,
  maxPercent,
  type Pair,
  placeWithPriceOf,
  type Ticker,
} from '../domain/market.ts';
import { midPrice, type OrderBook } from '../domain/order-book.ts';
import { basePrice, tokenPrice } from '../domain/price.ts';
import type { TokenList } from '../domain/token.ts';
import { createBroadcast, onEach, type Subscriber, type Subscription } from '../live/broadcast/broadcast.ts';
import { createTurnLimit } from '../live/broadcast/turn-limit.ts';
import type { Head } from '../live/chain/head.ts';
import type { HeadFollower } from '../live/chain/head-follower.ts';
import type { MarketFollower } from '../live/market/lists.ts';
import type { OrderBooks } from '../live/market/order-books.ts';
import type { TokenSource } from '../live/tokens.ts';

type RankedPair = { readonly pair: Pair & { readonly divergence: Divergence }; readonly maxPercent: number };

/** The pairs with a divergence at one height, the largest first. Equal ones are in the order of the host. */
export type DivergenceRanking = { readonly head: Head; readonly pairs: readonly RankedPair[] };

/** What a ranking is computed from. */
export type RankingInputs = {
  readonly head: Head;
  readonly pairs: Market<Pair>;
  readonly tickers: Market<Ticker>;
  /** The order books that are followed, by ticker id. */
  readonly books: ReadonlyMap<string, OrderBook>;
};

/** The ranking of pairs by divergence. It is computed once for all clients. */
export type DivergenceRankings = ReturnType<typeof createDivergenceRankings>;

type RankingSources = {
  readonly head: Pick<HeadFollower, 'current' | 'subscribe'>;
  readonly market: Pick<MarketFollower, 'pairs' | 'tickers'>;
  readonly orderBooks: Pick<OrderBooks, 'followedBooks'>;
  readonly tokens: Pick<TokenSource, 'current'>;
};

/** Creates the rankings; none is computed yet. */
export function createDivergenceRankings(sources: RankingSources) {
  const { head, market, orderBooks } = sources;
  let known: { readonly inputs: AllInputs; readonly ranking: Promise<DivergenceRanking> } | undefined;
  let latest = createBroadcast<DivergenceRanking>();
  let skippedBefore = 0;
  /** What is followed for the subscribers. */
  let followed: readonly Subscription[] = [];
  let newest: RankingInputs | undefined;

  /** The ranking of these inputs. The same inputs, one after another, have the same ranking object. */
  function rank(inputs: RankingInputs): Promise<DivergenceRanking> {
    const all = { ...inputs, tokens: sources.tokens.current() };
    if (known === undefined || !areSame(known.inputs, all)) known = { inputs: all, ranking: rankPairs(all) };
    return known.ranking;
  }

  /** The newest data; `undefined` if some of it is not read yet, or too old. */
  function newestInputs(): RankingInputs | undefined {
    const newestHead = head.current();
    const pairs = market.pairs.current()?.market;
    const tickers = market.tickers.current()?.market;
    if (newestHead === undefined || pairs === undefined || tickers === undefined) return undefined;
    return { head: newestHead, pairs, tickers, books: orderBooks.followedBooks().books };
  }

  async function update(): Promise<void> {
    const inputs = newestInputs();
    newest = inputs;
    const ranking = inputs && (await rank(inputs).catch((error) => failedRanking(inputs.head, error)));
    // Newer data is being ranked, or the last subscriber is gone.
    if (newest !== inputs) return;
    if (ranking !== undefined && ranking !== latest.current()) latest.publish(ranking);
  }

  function follow(): void {
    const changes = [head.subscribe, market.pairs.subscribe, market.tickers.subscribe];
    followed = changes.map((subscribe) => onEach<unknown>(subscribe, update));
    update();
  }

  /** The next subscriber does not start with a ranking of earlier data. */
  function stop(): void {
    for (const subscription of followed) subscription.cancel();
    followed = [];
    newest = undefined;
    skippedBefore += latest.skippedValues();
    latest = createBroadcast();
  }

  return {
    rank,
    /**
     * Sends the ranking of the newest data first, then that of each new head and of each response with pairs or tickers. Nothing
     * is computed without subscribers.
     */
    subscribe(subscriber: Subscriber<DivergenceRanking>): Subscription {
      if (followed.length === 0) follow();
      const subscription = latest.subscribe(subscriber);
      return {
        request: () => subscription.request(),
        cancel() {
          subscription.cancel();
          if (latest.subscribers() === 0) stop();
        },
      };
    },
    subscribers: () => latest.subscribers(),
    skippedValues: () => skippedBefore + latest.skippedValues(),
  };
}

type AllInputs = RankingInputs & { readonly tokens: TokenList };

/** Pairs that are compared in one turn of the event loop: about a millisecond of work. */
const PAIRS_PER_TURN = 500;

async function rankPairs({ head, pairs, tickers, books, tokens }: AllInputs): Promise<DivergenceRanking> {
  const { wait } = createTurnLimit(PAIRS_PER_TURN);
  const ranked: RankedPair[] = [];

  for (const pair of pairs.rows) {
    await wait();
    const divergence = divergenceOf(pair);
    const percent = maxPercent(divergence);
    if (percent !== undefined) ranked.push({ pair: { ...pair, divergence }, maxPercent: percent });
  }
  return { head, pairs: ranked.sort((a, b) => b.maxPercent - a.maxPercent) };

  function divergenceOf(pair: Pair): Divergence {
    const { baseId, poolId, tickerId } = pair;
    const place = placeWithPriceOf(head.exchange, pair);
    const pool = place === undefined ? undefined : poolPairAt(head.exchange, place);
    const book = books.get(tickerId);
    return {
      poolPrice: pool && tokenPrice(basePrice, pool, baseId, tokens),
      lastPrice: tickers.byPoolId.get(poolId)?.lastPrice,
      bookMidPrice: book && midPrice(book),
    };
  }
}

/** In place of a ranking that cannot be computed: each update that is made of it fails with this error. */
function failedRanking(head: Head, error: unknown): DivergenceRanking {
  return {
    head,
    get pairs(): never {
      throw error;
    },
  };
}

function areSame(a: AllInputs, b: AllInputs): boolean {
  return (['head', 'pairs', 'tickers', 'books', 'tokens'] as const).every((name) => a[name] === b[name]);
}
