import type { Block } from './chain/block.ts';
import type { Chain } from './chain/chain.ts';
import { ordersOf } from './chain/order-book.ts';
import { figuresOf } from './chain/tickers.ts';
import type { MarketDataCall, MarketDataFault } from './faults.ts';
import { createHost, type HostControl } from './http/host.ts';
import type { Address } from './http/listen.ts';
import { createWebWriter, type HostResponse, json } from './http/response-writer.ts';
import { writeInForm } from './market-data/form.ts';
import { orderBookResponse, pairsResponse, tickersResponse } from './market-data/responses.ts';

/** What tests see of a market-data host. */
export type MarketDataControl = HostControl<MarketDataFault, MarketDataCall>;

/** What differs between market-data hosts. */
export type MarketDataBehaviour = {
  /** The response for an unknown ticker: a status with a JSON error, or 200 with empty or null sides. */
  readonly unknownTicker: '404' | '400' | 'empty' | 'null';
  readonly timestampUnit: 'seconds' | 'milliseconds';
  /** Tickers whose book contains an entry that is not two numbers. */
  readonly malformedBooks: readonly string[];
};

const MARKET_DATA_CALLS: readonly MarketDataCall[] = ['pairs', 'tickers', 'orderbook'];
const PATH = /^\/api\/v1\/public\/[^/]+\/(pairs|tickers|orderbook)$/;
const LISTS = { pairs: ['pairs'], tickers: ['tickers'], orderbook: ['bids', 'asks'] } as const;

/** Starts a host that publishes the markets of a chain. */
export function createMarketDataHost(
  chain: Chain,
  address: Address,
  behaviour: MarketDataBehaviour,
): Promise<MarketDataControl> {
  const pairs = json(200, pairsResponse(chain.markets));
  const books = new Map<string, HostResponse>();
  let tickers = pairs;
  let tip: Block | undefined;

  function refresh(): void {
    if (tip === chain.tip) return;
    tip = chain.tip;
    tickers = json(200, tickersResponse(chain.markets, figuresOf(chain)));
    books.clear();
  }

  function bookOf(tickerId: string): HostResponse {
    const timestamp = chain.tip.time * (behaviour.timestampUnit === 'milliseconds' ? 1_000 : 1);
    // If several pools share the ticker, the host has only the book of the first.
    const market = chain.markets.find((candidate) => candidate.tickerId === tickerId);
    if (!market) {
      switch (behaviour.unknownTicker) {
        case 'empty':
          return json(200, orderBookResponse(tickerId, timestamp, { bids: [], asks: [] }));
        case 'null':
          return json(200, orderBookResponse(tickerId, timestamp, { bids: null, asks: null }));
        default:
          return json(Number(behaviour.unknownTicker), { message: 'ticker_id not found' });
      }
    }

    const book = orderBookResponse(tickerId, timestamp, ordersOf(chain.seed, market, chain.tip));
    const bids = behaviour.malformedBooks.includes(tickerId) ? [['n/a', null], ...(book.bids ?? [])] : book.bids;
    return json(200, { ...book, bids });
  }

  function responseTo(name: MarketDataCall, params: unknown): HostResponse {
    refresh();
    if (name === 'pairs') return pairs;
    if (name === 'tickers') return tickers;

    const tickerId = tickerIdOf(params);
    if (tickerId === '') return json(400, { message: 'ticker_id is required' });
    const book = books.get(tickerId) ?? bookOf(tickerId);
    if (books.size < chain.markets.length) books.set(tickerId, book);
    return book;
  }

  return createHost<MarketDataFault, MarketDataCall>(address, {
    identify(method, path) {
      const url = URL.parse(path, 'http://host');
      const named = method === 'GET' ? PATH.exec(url?.pathname ?? '')?.[1] : undefined;
      const name = MARKET_DATA_CALLS.find((call) => call === named);
      return { name, params: Object.fromEntries(url?.searchParams ?? []) };
    },
    matches: () => true,
    respond({ name, params }, _body, faults) {
      if (!name) return json(404, { message: 'not found' });
      if (faults.some(({ kind }) => kind === 'no-data')) return noData(name);
      const form = faults.find((fault) => fault.kind === 'form');
      const plain = responseTo(name, params);
      return form === undefined ? plain : { ...plain, body: [Buffer.from(writeInForm(contentOf(plain), form))] };
    },
    createWriter: createWebWriter,
    keepsAlive: true,
  });
}

function tickerIdOf(params: unknown): string {
  const { ticker_id: tickerId = '' } = params as { readonly ticker_id?: string };
  return tickerId;
}

function contentOf({ body }: HostResponse): object {
  return JSON.parse(Buffer.concat(body).toString());
}

function noData(name: MarketDataCall): HostResponse {
  return json(200, { message: 'no data', ...Object.fromEntries(LISTS[name].map((list) => [list, null])) });
}
