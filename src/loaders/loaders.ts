import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import type { Head } from '../live/chain/head.ts';
import type { Requester } from '../upstream/fair-queue.ts';
import { Dependencies } from './dependencies.ts';
import { ExchangeLoader } from './exchange.ts';
import { HeadPin } from './head-pin.ts';
import { createHistoryLoader, type HistoryLoader } from './history.ts';
import type { HistoryLimits } from './history-view.ts';
import type { JsonValidity } from './json-validity.ts';
import { createMarketLoader, type MarketLoader } from './market.ts';
import { createOrderBookLoader, type OrderBookLoader } from './order-book.ts';
import { QuoteLoader } from './quote.ts';
import type { Sources } from './sources.ts';
import { TokenLoader } from './token.ts';

/** The limits of what loaders return, whose requests they are, and after which event streams resume. */
type LoaderOptions = HistoryLimits & {
  readonly requester: Requester;
  /**
   * The height in the header `Last-Event-ID`. It takes precedence over `afterHeight`, which an event source repeats each time
   * that it reconnects.
   */
  readonly afterEvent: BeaconHeight | undefined;
};

/**
 * Everything that one answer reads. An answer describes one beacon height: that of the parameter `head`, or of the head that
 * is current when a field first needs one.
 *
 * Each loader is created when it is first used, because most answers use one or two. It is a class because V8 gives an
 * object literal with getters a hidden class of its own, and keeps it until a full collection: that doubled the time of a
 * page of pools.
 */
export class Loaders {
  readonly dependencies = new Dependencies();
  readonly head: HeadPin;
  /** For the functions of this folder. A resolver that read from it could mix heights. */
  readonly sources: Sources;
  readonly options: LoaderOptions;
  #market: MarketLoader | undefined;
  #tokens: TokenLoader | undefined;
  #exchange: ExchangeLoader | undefined;
  #orderBooks: OrderBookLoader | undefined;
  #quotes: QuoteLoader | undefined;
  #history: HistoryLoader | undefined;
  #included: JsonValidity | undefined;

  constructor(sources: Sources, options: LoaderOptions, head?: Head) {
    this.sources = sources;
    this.options = options;
    this.head = new HeadPin(sources.head, this.dependencies, head);
  }

  get market(): MarketLoader {
    this.#market ??= createMarketLoader(this.sources.market, this.dependencies);
    return this.#market;
  }

  get tokens(): TokenLoader {
    this.#tokens ??= new TokenLoader(this.sources.tokens, this.head, this.market, this.dependencies);
    return this.#tokens;
  }

  get exchange(): ExchangeLoader {
    const { head, dependencies, tokens } = this;
    const { pastStates, pools, usdPrices } = this.sources;
    const { maxPageSize, requester } = this.options;
    this.#exchange ??= new ExchangeLoader({
      head,
      dependencies,
      tokens,
      pastStates,
      pools,
      usdPrices,
      maxPageSize,
      requester,
    });
    return this.#exchange;
  }

  get orderBooks(): OrderBookLoader {
    const { requester } = this.options;
    this.#orderBooks ??= createOrderBookLoader(this.sources.orderBooks, this.dependencies, requester);
    return this.#orderBooks;
  }

  get quotes(): QuoteLoader {
    this.#quotes ??= new QuoteLoader(this.exchange);
    return this.#quotes;
  }

  get history(): HistoryLoader {
    const { head, dependencies, tokens, sources, options } = this;
    this.#history ??= createHistoryLoader({ sources, head, dependencies, tokens, limits: options });
    return this.#history;
  }

  /** What a text that was written with these loaders depends on; `undefined` if nothing of it can change. */
  validity(): JsonValidity | undefined {
    const { dependencies, head, market } = this;
    if (dependencies.areImmutable()) return undefined;
    market.pairs.current();
    market.tickers.current();
    return { dependencies, usesHead: head.isUsed(), historyUse: this.#history?.uses() };
  }

  /** Whether this answer contains a text with that validity. */
  hasIncluded(validity: JsonValidity): boolean {
    return validity === this.#included;
  }

  /**
   * Adds what a text depends on to what this answer depends on.
   *
   * @returns whether the text may be part of the answer: what the answer has read must be what the text was written from
   */
  include(validity: JsonValidity, now: Instant): boolean {
    const { usesHead, historyUse } = validity;
    if (usesHead) this.head.current();
    if (historyUse !== undefined) this.history.use(historyUse);
    this.market.pairs.current();
    this.market.tickers.current();
    if (!this.dependencies.areCurrent(now)) return false;
    this.#included = validity;
    return true;
  }
}
