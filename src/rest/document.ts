import { LRUCache } from 'lru-cache';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import { createEtag } from '../domain/entity-tag.ts';
import type { Instant } from '../domain/instant.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import { isOfClient } from '../errors.ts';
import type { Head } from '../live/chain/head.ts';
import type { Dependencies } from '../loaders/dependencies.ts';
import { Loaders } from '../loaders/loaders.ts';
import type { Sources } from '../loaders/sources.ts';
import type { Requester } from '../turns/fair-queue.ts';
import type { TakeTurn } from '../turns/turns.ts';

/** A document of the REST API, as bytes that all clients share. */
export type RestDocument = {
  readonly body: Buffer;
  /** JSON by default. A document that sets it has several types, and the header `Accept` chooses one. */
  readonly contentType?: string | undefined;
  /** The entity tag: equal bodies have equal ones. */
  readonly etag: string;
  /** The number of pairs, tickers or symbols; 0 for a document that is charged before it is read. */
  readonly rows: number;
  /** For how long the document is valid. */
  readonly dependencies: Dependencies;
  /** The beacon height of its pool prices, if it has any. */
  readonly height: BeaconHeight | undefined;
  /** How old its oldest stale data is: when that was read, or produced. `undefined` while none is stale. */
  staleSince(): Instant | undefined;
};

/** A document, and whether it was stored (cached), is written for several clients (coalesced), or for this one (executed). */
export type ServedDocument = { readonly document: RestDocument; readonly from: 'cached' | 'coalesced' | 'executed' };

/** What the documents are written from. */
export type DocumentOptions = {
  readonly sources: Sources;
  readonly now: () => Instant;
  /** How old the head may become while the node fails. After that, tickers have no pool prices. */
  readonly marketMaxAgeMs: number;
  readonly takeTurn: TakeTurn;
  /** How many order books are read in turn in each minute. */
  readonly bookSweepPerMinute: number;
};

/** The hours of the high and low of a ticker. */
export const TICKER_HOURS = 24;

/** A document has no pages, and no client chooses the window of a change of prices. */
const LIMITS = { maxPageSize: 1, maxHistoryHours: TICKER_HOURS };

/** Of documents without parameters: all clients get the same ones. */
const ALL_CLIENTS: Requester = { client: 'rest' };

type LoaderOptions = { readonly maxCandles?: number; readonly requester?: Requester | undefined };

/** Creates the loaders of a document. @param head the head that it describes; by default, the current one */
export function createDocumentLoaders(
  sources: Sources,
  head?: Head,
  { maxCandles = 1, requester = ALL_CLIENTS }: LoaderOptions = {},
): Loaders {
  return new Loaders(sources, { ...LIMITS, maxCandles, requester, afterEvent: undefined }, head);
}

/** Characters that are written in one turn of the event loop: less than a millisecond of work. */
const PIECE_LENGTH = 65_536;

/** Writes the texts one after another as bytes, and yields to the event loop in between. */
export async function writeBody(
  texts: Iterable<string>,
  takeTurn: TakeTurn,
): Promise<Pick<RestDocument, 'body' | 'etag'>> {
  const pieces: Buffer[] = [];
  let text = '';
  for (const next of texts) {
    text += next;
    if (text.length < PIECE_LENGTH) continue;
    pieces.push(Buffer.from(text));
    text = '';
    await takeTurn();
  }
  const body = Buffer.concat([...pieces, Buffer.from(text)]);
  return { body, etag: createEtag('', body) };
}

/** The text of the document with a list of that name, row by row. */
export function* listTexts(name: string, rows: Iterable<string>): Generator<string> {
  yield `{"message":"OK","${name}":[`;
  let isFirst = true;
  for (const row of rows) {
    if (!isFirst) yield ',';
    isFirst = false;
    yield row;
  }
  yield ']}';
}

/** What writes a document. By default, it has no rows, the height of its head, and is stale while the head is. */
export type WrittenDocument = Partial<Pick<RestDocument, 'contentType' | 'rows' | 'height' | 'staleSince'>> & {
  readonly texts: Iterable<string>;
};

/** A document that is being written, and what it depends on so far. */
export type StartedDocument = { readonly dependencies: Dependencies; readonly written: Promise<RestDocument> };

/** Starts to write a document with loaders of its own. It rejects with the errors of `write`. */
export function startDocument(
  { sources, takeTurn }: DocumentOptions,
  write: (loaders: Loaders) => Promise<WrittenDocument>,
  options: LoaderOptions,
): StartedDocument {
  const loaders = createDocumentLoaders(sources, undefined, options);
  const { dependencies } = loaders;

  const written = write(loaders).then(
    async ({ texts, ...rest }): Promise<RestDocument> => ({
      rows: 0,
      height: loaders.head.used()?.beaconHeight,
      staleSince: () => (sources.head.isStale() ? sources.head.current()?.time : undefined),
      ...rest,
      ...(await writeBody(texts, takeTurn)),
      dependencies,
    }),
  );
  return { dependencies, written };
}

/** Documents that are cached for the next client with the same parameters. */
const MAX_DOCUMENTS = 64;

/**
 * Creates the function that returns the document for some parameters: the same one for as long as it is valid. Clients that need a new
 * one at the same time wait for the same one, unless it already depends on something that has changed. If the first client has used up
 * its share of a queue, each of the others starts its own.
 *
 * @param start starts to write a document; the requester is the client that waits for it first
 */
export function cacheDocuments<Parameters>(
  start: (parameters: Parameters, requester?: Requester) => StartedDocument,
  now: () => Instant,
): (parameters: Parameters, requester?: Requester) => MaybePromise<ServedDocument> {
  type Cached = {
    readonly dependencies: Dependencies;
    readonly written: MaybePromise<RestDocument>;
    /** The client that waits for it first. */
    readonly client: Requester['client'] | undefined;
  };
  const documents = new LRUCache<string, Cached>({ max: MAX_DOCUMENTS });

  function startFor(requester: Requester | undefined, parameters: Parameters, key: string): Promise<ServedDocument> {
    const started = { ...start(parameters, requester), client: requester?.client };
    documents.set(key, started);
    const replaceBy = (ended: Cached | undefined) => {
      // A document that was started earlier can be written later. It is not newer then.
      if (documents.peek(key) === started) documents.set(key, ended);
    };
    started.written.then(
      (written) => replaceBy({ ...started, written }),
      () => replaceBy(undefined),
    );
    return started.written.then((document) => ({ document, from: 'executed' }));
  }

  return (parameters, requester) => {
    const key = `${JSON.stringify(parameters)}`;
    const newest = documents.get(key);
    if (!newest?.dependencies.areCurrent(now())) return startFor(requester, parameters, key);
    const { written, client } = newest;
    if (!(written instanceof Promise)) return { document: written, from: 'cached' };
    return written.then(
      (document) => ({ document, from: 'coalesced' }),
      (error) => {
        if (client === requester?.client || !isOfClient(error)) throw error;
        return startFor(requester, parameters, key);
      },
    );
  };
}
