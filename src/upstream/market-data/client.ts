import type { Pair, Ticker } from '../../domain/market.ts';
import type { RawOrderBook } from '../../domain/order-book.ts';
import { UpstreamBadShapeError, UpstreamBadStatusError } from '../../errors.ts';
import type { Circuit } from '../circuit.ts';
import type { HealthRecord } from '../health.ts';
import type { HttpClient } from '../http.ts';
import { createDocumentReader, parseObject } from '../json.ts';
import { createRowsReader, type ReportUnreadable, type Rows, type RowsOptions } from '../rows.ts';
import { parseOrderBook, readOrderBook, readPair, readTicker } from './decode.ts';

/** The three requests of a market-data host. Each throws an UpstreamError if it fails. */
export type MarketDataClient = ReturnType<typeof createMarketDataClient>;

type MarketDataClientOptions = {
  readonly http: HttpClient;
  /** With or without the documented path, or a part of it. */
  readonly baseUrl: URL;
  /** The path segment of the integrating partner, unless the URL has one. */
  readonly partner: string;
  readonly health: HealthRecord;
  readonly circuit: Circuit;
  /** Called for each response of which a part could not be read. */
  readonly report?: ((list: Endpoint, ...problem: Parameters<ReportUnreadable>) => void) | undefined;
};

type ListOptions<T> = Pick<RowsOptions<T>, 'read' | 'previous'> & { readonly name: 'pairs' | 'tickers' };

/** An order book is parsed as a whole: more would hold the event loop for too long. */
const MAX_BOOK_BYTES = 4 * 2 ** 20;

/** Creates a client of a market-data host. All calls pass its circuit, and throw UpstreamError, or the reason of their signal. */
export function createMarketDataClient(options: MarketDataClientOptions) {
  const { http, baseUrl, partner, health, circuit } = options;
  const address = createAddresses(baseUrl, partner);
  const reportOf =
    (list: Endpoint): ReportUnreadable =>
    (...problem) =>
      options.report?.(list, ...problem);

  /**
   * A request of the followers of the market. A list of which no row can be read is no empty list, nor is one without rows after one
   * that had some: that is what a host sends whose own source has failed.
   */
  function readList<T extends Pair>(options: ListOptions<T>): Promise<Rows<T>> {
    const { name, previous = [] } = options;
    const reader = createRowsReader({ ...options, keyOf: ({ poolId }) => poolId, report: reportOf(name) });
    const read = async () => {
      const { rows, dropped } = await http.request({ name, url: address(name) }, reader);
      if (rows.length > 0) return { rows, dropped };
      if (dropped > 0) throw new UpstreamBadShapeError('MARKET_DATA', `no row of ${name} can be read`, { dropped });
      if (previous.length > 0) throw new UpstreamBadShapeError('MARKET_DATA', `${name} has no rows any more`);
      return { rows, dropped };
    };
    return circuit.runCounted(() => health.watch(name, read()));
  }

  async function orderBook(tickerId: string): Promise<RawOrderBook | undefined> {
    const url = address('orderbook');
    deleteParameters(url, ['ticker_id']);
    // `searchParams.set` would write the other parameters in another way.
    url.search += `${url.search && '&'}${new URLSearchParams({ ticker_id: tickerId })}`;
    const read = (document: unknown) => readOrderBook(document, tickerId, reportOf('orderbook'));
    try {
      return await http.request({ name: 'orderbook', url }, createDocumentReader(MAX_BOOK_BYTES, read, parseOrderBook));
    } catch (error) {
      if (isUnknownTicker(error)) return undefined;
      throw error;
    }
  }

  return {
    /** @param previous the rows of the response before: equal rows, and an equal list, are the same objects again */
    pairs: (previous?: readonly Pair[]) => readList({ name: 'pairs', read: readPair, previous }),
    /** @param previous as for the pairs */
    tickers: (previous?: readonly Ticker[]) => readList({ name: 'tickers', read: readTicker, previous }),
    /** `undefined` if the host responds that it has no order book of that ticker. */
    orderBook: (tickerId: string) => circuit.runUncounted(() => health.watch('orderbook', orderBook(tickerId))),
  };
}

/** The specification does not say what a host sends for an unknown ticker: 400 or 404 with JSON, or 200 without sides. */
function isUnknownTicker(error: unknown): boolean {
  return (
    error instanceof UpstreamBadStatusError &&
    [400, 404].includes(error.status) &&
    parseObject(error.body) !== undefined
  );
}

/** The endpoints of a market-data host, as its paths name them. */
export type Endpoint = 'pairs' | 'tickers' | 'orderbook';

/** The documented path, or a part of it: people also copy the complete URL of an endpoint. */
const DOCUMENTED_PATH =
  /\/api\/v1\/public(?:\/(?!(?:pairs|tickers|orderbook)$)(?<partner>[^/]+))?(?<endpoint>\/(?:pairs|tickers|orderbook))?$/;

/**
 * Creates the addresses of a host's endpoints, `<prefix>/api/v1/public/<partner>/<endpoint>`. Parts of this path that the URL
 * has already are not added again.
 *
 * @param partner used if the URL does not name one
 */
function createAddresses(baseUrl: URL, partner: string): (endpoint: Endpoint) => URL {
  const path = baseUrl.pathname.replace(/\/+$/, '');
  const documented = DOCUMENTED_PATH.exec(path);
  const prefix = path.slice(0, documented?.index);
  const segment = documented?.groups?.['partner'] ?? encodeURIComponent(partner);

  return (endpoint) => {
    const url = new URL(baseUrl);
    url.pathname = `${prefix}/api/v1/public/${segment}/${endpoint}`;
    // The parameters of a copied endpoint belong to one call.
    if (documented?.groups?.['endpoint'] !== undefined) deleteParameters(url, CALL_PARAMETERS);
    return url;
  };
}

const CALL_PARAMETERS = ['ticker_id', 'depth'];

/** Deletes parameters. If the URL has none of them, the others stay as they are written. */
function deleteParameters(url: URL, names: readonly string[]): void {
  for (const name of names) if (url.searchParams.has(name)) url.searchParams.delete(name);
}
