import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import Negotiator from 'negotiator';
import { createEtag } from '../../domain/entity-tag.ts';
import { hasEtag, IMMUTABLE } from '../requests/headers.ts';

/** Responds to a request for a page or a file. */
export type Respond = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The content of a file, as it is, and compressed if it is compressed before it is requested. */
type Bodies = { readonly identity: Buffer; readonly br?: Buffer | undefined; readonly gzip?: Buffer | undefined };

/** A page or a file, in memory. */
export type ServedFile = {
  readonly type: string;
  readonly bodies: Bodies;
  /** The entity tag of each encoding; `undefined` if the name of the file contains a hash of its content. */
  readonly etags: { readonly [Encoding in keyof Bodies]?: string } | undefined;
};

/**
 * Creates a file. Its encodings have different entity tags, because their bytes differ.
 *
 * @param isImmutable whether its name contains a hash of its content
 */
export function createFile(type: string, bodies: Bodies, isImmutable = false): ServedFile {
  if (isImmutable) return { type, bodies, etags: undefined };
  const etags = Object.entries(bodies).map(([encoding, body]) => [encoding, body && createEtag(type, body)]);
  return { type, bodies, etags: Object.fromEntries(etags) };
}

/** Sends a file in the best encoding that it has and the client accepts, or 304 if the client already has it. */
export function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { type, etags, bodies }: ServedFile,
  { status = 200, headers = {} }: { readonly status?: number; readonly headers?: OutgoingHttpHeaders } = {},
): void {
  const accepted = new Negotiator(request).encodings(['br', 'gzip']);
  const encoding = (['br', 'gzip'] as const).find((each) => accepted.includes(each) && bodies[each]) ?? 'identity';
  const body = bodies[encoding] ?? bodies.identity;
  const etag = etags?.[encoding];
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
