import type { Head } from '../live/chain/head.ts';
import { Dependencies } from './dependencies.ts';
import { ExchangeLoader } from './exchange.ts';
import { HeadPin } from './head-pin.ts';
import { createHistoryLoader, type HistoryLoader } from './history.ts';
import { MarketList, type MarketLoader } from './market.ts';
import { createOrderBookLoader, type OrderBookLoader } from './order-book.ts';
import type { JsonValidity } from './pool-cache.ts';
import { PoolOrderLoader } from './pool-orders.ts';
import { QuoteLoader } from './quote.ts';
import type { LoaderInputs, Sources } from './sources.ts';
import { TokenLoader } from './token.ts';

/**
 * Everything that one response reads. A response describes one beacon height: that of the parameter `head`, or of the head that
 * is current when a field first needs one.
 *
 * Each loader is created when it is first used, because most responses use one or two. docs/decisions/query-plans.md says why it is a
 * class.
 */
export class Loaders {
  readonly dependencies = new Dependencies();
  readonly head: HeadPin;
  /** For the functions of this folder: resolvers only pass it to them. A resolver that read from it could mix heights. */
  readonly sources: Sources;
  readonly options: LoaderInputs['options'];
  #market: MarketLoader | undefined;
  #tokens: TokenLoader | undefined;
  #exchange: ExchangeLoader | undefined;
  #orderBooks: OrderBookLoader | undefined;
  #poolOrders: PoolOrderLoader | undefined;
  #quotes: QuoteLoader | undefined;
  #history: HistoryLoader | undefined;

  constructor(sources: Sources, options: LoaderInputs['options'], head?: Head) {
    this.sources = sources;
    this.options = options;
    this.head = new HeadPin(sources.head, this.dependencies, head);
  }

  get market(): MarketLoader {
    const { pairs, tickers } = this.sources.market;
    this.#market ??= {
      pairs: new MarketList(pairs, this.dependencies),
      tickers: new MarketList(tickers, this.dependencies),
    };
    return this.#market;
  }

  get tokens(): TokenLoader {
    this.#tokens ??= new TokenLoader(this);
    return this.#tokens;
  }

  get exchange(): ExchangeLoader {
    this.#exchange ??= new ExchangeLoader(this);
    return this.#exchange;
  }

  get orderBooks(): OrderBookLoader {
    this.#orderBooks ??= createOrderBookLoader(this);
    return this.#orderBooks;
  }

  get poolOrders(): PoolOrderLoader {
    this.#poolOrders ??= new PoolOrderLoader(this);
    return this.#poolOrders;
  }

  get quotes(): QuoteLoader {
    this.#quotes ??= new QuoteLoader(this.exchange);
    return this.#quotes;
  }

  get history(): HistoryLoader {
    this.#history ??= createHistoryLoader(this);
    return this.#history;
  }

  /** What a text of these loaders depends on; `undefined` if nothing of it can change. */
  textValidity(): JsonValidity | undefined {
    const { dependencies, head, market } = this;
    if (dependencies.areImmutable()) return undefined;
    return {
      head: head.used(),
      pairs: market.pairs.current(),
      tickers: market.tickers.current(),
      recorded: this.#history?.versions.recorded.noted(),
      trades: this.#history?.versions.trades.noted(),
    };
  }

  /** Whether a text can be part of this response, which then depends on the same as the text. */
  canInclude({ head, pairs, tickers, recorded, trades }: JsonValidity): boolean {
    const { market } = this;
    return (
      (head === undefined || this.head.current() === head) &&
      (recorded === undefined || this.history.versions.recorded.canInclude(recorded)) &&
      (trades === undefined || this.history.versions.trades.canInclude(trades)) &&
      market.pairs.current() === pairs &&
      market.tickers.current() === tickers
    );
  }
}
