import { createHash } from 'node:crypto';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Instant } from '../domain/instant.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import type { Dependencies } from '../loaders/dependencies.ts';
import type { Sources } from '../loaders/sources.ts';

/** A document of the REST API, as bytes that all clients share. */
export type RestDocument = {
  readonly body: Buffer;
  /** JSON by default. If it is set, the header `Accept` chose it. */
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

/** Resolves in a later turn of the event loop. */
export type TakeTurn = () => Promise<void>;

/** What the documents are written from. */
export type DocumentOptions = {
  readonly sources: Sources;
  readonly now: () => Instant;
  /** How old the head may become while the node fails. After that, tickers have no pool prices. */
  readonly maxAgeMs: number;
  readonly takeTurn: TakeTurn;
  /** How many order books are read in turn in each minute. */
  readonly bookSweepPerMinute: number;
};

/** Bytes that are written in one turn of the event loop: less than a millisecond of work. */
const PIECE_BYTES = 131_072;

/** A character of a string has at most this many bytes in UTF-8. */
const MAX_BYTES_PER_CHARACTER = 3;

/**
 * Writes the texts one after another as bytes, and yields to the event loop in between. Each text is written by itself: joining
 * long texts first takes three times as long.
 */
export async function writeBody(
  texts: Iterable<string>,
  takeTurn: TakeTurn,
): Promise<Pick<RestDocument, 'body' | 'etag'>> {
  const hash = createHash('sha256');
  const pieces: Buffer[] = [];
  let piece = Buffer.allocUnsafe(PIECE_BYTES);
  let length = 0;
  const finishPiece = () => {
    const written = piece.subarray(0, length);
    hash.update(written);
    pieces.push(written);
    length = 0;
  };

  for (const text of texts) {
    const maxBytes = text.length * MAX_BYTES_PER_CHARACTER;
    if (length + maxBytes > piece.length) {
      finishPiece();
      await takeTurn();
      piece = Buffer.allocUnsafe(Math.max(PIECE_BYTES, maxBytes));
    }
    length += piece.write(text, length);
  }
  finishPiece();
  return { body: Buffer.concat(pieces), etag: `"${hash.digest('base64url').slice(0, 22)}"` };
}

/** A document that is being written, and what it depends on so far. */
export type StartedDocument = { readonly dependencies: Dependencies; readonly written: Promise<RestDocument> };

/**
 * Creates the function that returns a document: the same one for as long as it is valid. Clients that need a new one at the
 * same time wait for the same one, unless it already depends on something that has changed.
 */
export function shareDocument(start: () => StartedDocument, now: () => Instant): () => MaybePromise<RestDocument> {
  let current: RestDocument | undefined;
  let underWay: StartedDocument | undefined;

  function startAgain(): Promise<RestDocument> {
    const started = start();
    underWay = started;
    const end = () => {
      if (underWay === started) underWay = undefined;
    };
    started.written.then((document) => {
      // A document that was started earlier can be written later. It is not newer then.
      if (underWay === started) current = document;
      end();
    }, end);
    return started.written;
  }

  return () => {
    if (current?.dependencies.areCurrent(now())) return current;
    return underWay?.dependencies.areCurrent(now()) ? underWay.written : startAgain();
  };
}
