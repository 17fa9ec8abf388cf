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
import type { Head } from '../live/chain/head.ts';
import type { HeadFollower } from '../live/chain/head-follower.ts';
import type { MarketFollower } from '../live/market/market-follower.ts';
import type { OrderBooks } from '../live/market/order-books.ts';
import type { TokenSource } from '../live/tokens.ts';
import { createTurnLimit } from '../turns/turns.ts';

/** A pair, and the larger distance of its prices. */
export type RankedPair = { readonly pair: Pair & { readonly divergence: Divergence }; readonly maxPercent: number };

/** What a ranking is computed from. */
export type RankingInputs = {
  readonly head: Head;
  readonly pairs: Market<Pair>;
  readonly tickers: Market<Ticker>;
  /** The order books that are followed, by ticker id. */
  readonly books: ReadonlyMap<string, OrderBook>;
  readonly tokens: TokenList;
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
  const { head, market, orderBooks, tokens } = sources;
  let known: { readonly inputs: RankingInputs; readonly ranking: Promise<readonly RankedPair[]> } | undefined;
  let latest = createBroadcast<RankingInputs>();
  /** Whether something could not be read, or was too old, when it was last looked at. */
  let isInterrupted = false;
  let skippedBefore = 0;
  const changes = [head.subscribe, market.pairs.subscribe, market.tickers.subscribe];
  /** What is followed for the subscribers. */
  let followed: readonly Subscription[] = [];

  /** The pairs with a divergence, the largest first, equal ones in the order of the host. It is computed once for equal inputs. */
  function rank(inputs: RankingInputs): Promise<readonly RankedPair[]> {
    if (known === undefined || !areSame(known.inputs, inputs)) known = { inputs, ranking: rankPairs(inputs) };
    return known.ranking;
  }

  /** Publishes the newest data if it has changed, and all of it is read and not too old. */
  function update(): void {
    const newest = head.current();
    const pairs = market.pairs.current()?.market;
    const tickers = market.tickers.current()?.market;
    if (newest === undefined || pairs === undefined || tickers === undefined) {
      isInterrupted = true;
      return;
    }
    const inputs = { head: newest, pairs, tickers, books: orderBooks.followedBooks().books, tokens: tokens.current() };
    // Subscribers that came in between wait for it.
    if (isInterrupted || !areSame(latest.current(), inputs)) latest.publish(inputs);
    isInterrupted = false;
  }

  /** The next subscriber does not start with earlier data. */
  function stop(): void {
    for (const subscription of followed) subscription.cancel();
    followed = [];
    skippedBefore += latest.skippedValues();
    latest = createBroadcast();
  }

  return {
    rank,
    /** Sends what to rank: the newest data first, then that of each new head and of each response with pairs or tickers. */
    subscribe(subscriber: Subscriber<RankingInputs>): Subscription {
      if (followed.length > 0) update();
      else followed = changes.map((subscribe) => onEach<unknown>(subscribe, update));
      const subscription = latest.subscribe(subscriber);
      return {
        request: () => subscription.request(),
        cancel() {
          subscription.cancel();
          if (latest.subscribers() === 0) stop();
        },
      };
    },
    /** The data that was sent last, however old. */
    newest: () => latest.current(),
    subscribers: () => latest.subscribers(),
    skippedValues: () => skippedBefore + latest.skippedValues(),
  };
}

/** Pairs that are compared in one turn of the event loop: about a millisecond of work. */
const PAIRS_PER_TURN = 500;

async function rankPairs({ head, pairs, tickers, books, tokens }: RankingInputs): Promise<readonly RankedPair[]> {
  const { wait } = createTurnLimit(PAIRS_PER_TURN);
  const ranked: RankedPair[] = [];

  for (const pair of pairs.rows) {
    await wait();
    const divergence = divergenceOf(pair);
    const percent = maxPercent(divergence);
    if (percent !== undefined) ranked.push({ pair: { ...pair, divergence }, maxPercent: percent });
  }
  return ranked.sort((a, b) => b.maxPercent - a.maxPercent);

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

function areSame(a: RankingInputs | undefined, b: RankingInputs): boolean {
  return (['head', 'pairs', 'tickers', 'books', 'tokens'] as const).every((name) => a?.[name] === b[name]);
}
