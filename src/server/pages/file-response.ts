import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import Negotiator from 'negotiator';
import { createEtag, hasEtag, IMMUTABLE } from '../requests/entity-tag.ts';

/** Responds to a request for a page or a file. */
export type Respond = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The content encodings of pages and files that are compressed before they are requested. */
export type Encoding = 'br' | 'gzip' | 'identity';

/** A page or a file, in memory. */
export type ServedFile = {
  readonly type: string;
  /** The entity tag of each encoding; `undefined` if the name of the file contains a hash of its content. */
  readonly etags: ReadonlyMap<Encoding, string> | undefined;
  /** The content as it is, and compressed if it is compressed. */
  readonly bodies: ReadonlyMap<Encoding, Buffer>;
};

/** Creates a file. Its encodings have different entity tags, because their bytes differ. */
export function createFile(type: string, bodies: ReadonlyMap<Encoding, Buffer>): ServedFile {
  const etags = [...bodies].map(([encoding, body]) => [encoding, createEtag(type, body)] as const);
  return { type, bodies, etags: new Map(etags) };
}

/** Sends a file in the best encoding that it has and the client accepts, or 304 if the client already has it. */
export function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { type, etags, bodies }: ServedFile,
  { status = 200, headers = {} }: { readonly status?: number; readonly headers?: OutgoingHttpHeaders } = {},
): void {
  const accepted = acceptedEncoding(request);
  const encoding = bodies.has(accepted) ? accepted : 'identity';
  const body = bodies.get(encoding) ?? Buffer.alloc(0);
  const etag = etags?.get(encoding);
  const caching = { ...headers, 'cache-control': etag === undefined ? IMMUTABLE : 'no-cache', ...(etag && { etag }) };
  if (etag !== undefined && status === 200 && hasEtag(request, etag)) {
    response.writeHead(304, caching).end();
    return;
  }
  const content = { 'content-type': type, 'content-length': body.length };
  const encoded = encoding === 'identity' ? {} : { 'content-encoding': encoding };
  // Node sends no body in the response to a HEAD.
  response.writeHead(status, { ...caching, ...encoded, ...content }).end(body);
}

/** The first of these encodings that the client accepts. */
function acceptedEncoding(request: IncomingMessage): Encoding {
  const accepted = new Negotiator(request).encodings(COMPRESSED);
  return COMPRESSED.find((encoding) => accepted.includes(encoding)) ?? 'identity';
}

const COMPRESSED: readonly Encoding[] = ['br', 'gzip'];
