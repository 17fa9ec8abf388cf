import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import Negotiator from 'negotiator';
import { createEtag } from '../../domain/entity-tag.ts';
import { hasEtag, IMMUTABLE, MAX_ACCEPT_LENGTH } from '../requests/headers.ts';

/** Responds to a request for a page or a file. */
export type Respond = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The content of a file: as it is, and compressed if that was done in advance. */
type Bodies = { readonly identity: Buffer; readonly br?: Buffer | undefined; readonly gzip?: Buffer | undefined };

/** The type of pages. */
export const HTML = 'text/html; charset=utf-8';

/** The type of plain text. */
export const TEXT = 'text/plain; charset=utf-8';

type FileOptions = {
  readonly headers?: OutgoingHttpHeaders;
  readonly status?: number;
  /** Whether its name contains a hash of its content. */
  readonly isImmutable?: boolean;
};

/**
 * Creates what responds with a page or a file, in the best encoding that it has and the client accepts, or with 304 if the client
 * already has it. Its encodings have different entity tags, because their bytes differ.
 */
export function createFile(type: string, content: Bodies | string, options: FileOptions = {}): Respond {
  const { headers = {}, status = 200, isImmutable = false } = options;
  const bodies = typeof content === 'string' ? { identity: Buffer.from(content) } : content;
  const tagged = isImmutable ? [] : Object.entries(bodies);
  const tags = tagged.map(([encoding, body]) => [encoding, body && createEtag(type, body)]);
  const etags: Readonly<Record<string, string | undefined>> = Object.fromEntries(tags);

  return (request, response) => {
    const sent = request.headers['accept-encoding']?.slice(0, MAX_ACCEPT_LENGTH);
    const accepted = new Negotiator({ headers: { 'accept-encoding': sent } }).encodings(['br', 'gzip']);
    const encoding = (['br', 'gzip'] as const).find((each) => accepted.includes(each) && bodies[each]) ?? 'identity';
    const body = bodies[encoding] ?? bodies.identity;
    const etag = etags[encoding];
    const caching = { ...headers, 'cache-control': etag === undefined ? IMMUTABLE : 'no-cache', ...(etag && { etag }) };
    if (etag !== undefined && status === 200 && hasEtag(request, etag)) {
      response.writeHead(304, caching).end();
      return;
    }
    const ofBody = { 'content-type': type, 'content-length': body.length };
    const encoded = encoding === 'identity' ? {} : { 'content-encoding': encoding };
    // Node sends no body in the response to a HEAD.
    response.writeHead(status, { ...caching, ...encoded, ...ofBody }).end(body);
  };
}
