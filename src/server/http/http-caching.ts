import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Instant } from '../../domain/instant.ts';
import type { Dependencies } from '../../loaders/dependencies.ts';
import type { EncodedResponse } from '../operations/encoded-response.ts';
import type { JsonType } from './media-types.ts';

/** The headers for caches of a response to a GET. */
type CacheHeaders = { readonly etag: string | undefined; readonly cacheControl: string };

const NOT_CACHEABLE: CacheHeaders = { etag: undefined, cacheControl: 'no-store' };

/** The `cache-control` of what never changes. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

/** How long caches may use a response, and the entity tag with which they revalidate it afterwards. */
export function cacheHeadersOf(response: EncodedResponse, type: JsonType, now: Instant): CacheHeaders {
  const { dependencies } = response;
  if (dependencies === undefined || !dependencies.areCurrent(now)) return NOT_CACHEABLE;
  return { etag: etagOf(response, type), cacheControl: cacheControlOf(dependencies, now) };
}

/** One tag for each media type: they are different representations. */
function etagOf(response: EncodedResponse, type: JsonType): string {
  response.etags ??= {};
  response.etags[type] ??= createEtag(type, response.body);
  return response.etags[type];
}

/** The entity tag of a representation with that media type, which may be in pieces. Strings have one byte per character. */
export function createEtag(type: string, body: Buffer | readonly (string | Buffer)[]): string {
  const hash = createHash('sha256').update(type);
  for (const piece of [body].flat()) hash.update(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}

function cacheControlOf(dependencies: Dependencies, now: Instant): string {
  if (dependencies.areOfFinalHeights()) return IMMUTABLE;
  const seconds = Math.floor((dependencies.expectedUntil() - now) / 1_000);
  // With no-cache, a cache may store the response, and revalidates it each time.
  return seconds >= 1 && seconds !== Number.POSITIVE_INFINITY ? `max-age=${seconds}` : 'no-cache';
}

/** Whether the client already has the response with that entity tag. Caches may list several tags, and may make them weak. */
export function hasEtag({ headers }: IncomingMessage, etag: string): boolean {
  const sent = headers['if-none-match'];
  if (sent === undefined || sent === etag) return sent !== undefined;
  return sent.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
}
