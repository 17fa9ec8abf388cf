import type { Head } from '../live/chain/head.ts';
import { createDependencies } from './dependencies.ts';
import { createExchangeLoader, type ExchangeLoader } from './exchange.ts';
import { createHeadPin, type HeadPin } from './head-pin.ts';
import { createMarketLoader, type MarketLoader } from './market.ts';
import { createOrderBookLoader, type OrderBookLoader } from './order-book.ts';
import { createSourceStreams, type SourceStreams, type SourceStreamsOptions } from './source-streams.ts';
import type { Sources } from './sources.ts';
import { createTokenLoader, type TokenLoader } from './token.ts';

/** The largest page that loaders return, whose requests they are, and after which event its streams resume. */
type LoaderOptions = Omit<SourceStreamsOptions, 'sources'> & { readonly maxPageSize: number };

/**
 * Everything that one answer reads. An answer describes one beacon height: that of the parameter `head`, or of the head that
 * is current when a field first needs one.
 *
 * Each loader is created when it is first used, because most answers use one or two. It is a class because V8 gives an
 * object literal with getters a hidden class of its own, and keeps it until a full collection: that doubled the time of a
 * page of pools.
 */
export class Loaders {
  readonly dependencies = createDependencies();
  readonly head: HeadPin;
  readonly #sources: Sources;
  readonly #options: LoaderOptions;
  #market: MarketLoader | undefined;
  #tokens: TokenLoader | undefined;
  #exchange: ExchangeLoader | undefined;
  #orderBooks: OrderBookLoader | undefined;

  constructor(sources: Sources, options: LoaderOptions, head?: Head) {
    this.#sources = sources;
    this.#options = options;
    this.head = createHeadPin(sources.head, this.dependencies, head);
  }

  get market(): MarketLoader {
    this.#market ??= createMarketLoader(this.#sources.market, this.dependencies);
    return this.#market;
  }

  get tokens(): TokenLoader {
    this.#tokens ??= createTokenLoader(this.#sources.tokens, this.head, this.market);
    return this.#tokens;
  }

  get exchange(): ExchangeLoader {
    const { head, dependencies, tokens } = this;
    const { pastStates, pools } = this.#sources;
    this.#exchange ??= createExchangeLoader({ head, dependencies, tokens, pastStates, pools, ...this.#options });
    return this.#exchange;
  }

  get orderBooks(): OrderBookLoader {
    const { requester } = this.#options;
    this.#orderBooks ??= createOrderBookLoader(this.#sources.orderBooks, this.dependencies, requester);
    return this.#orderBooks;
  }

  /** Used once per operation, by the field of a subscription. */
  get sourceStreams(): SourceStreams {
    return createSourceStreams({ sources: this.#sources, ...this.#options });
  }
}
