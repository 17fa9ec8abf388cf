import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The `cache-control` of what never changes. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

/** The entity tag of a representation with that media type, which may be in pieces. */
export function createEtag(type: string, body: Buffer | readonly (string | Buffer)[]): string {
  const hash = createHash('sha256').update(type);
  for (const piece of [body].flat()) hash.update(piece);
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}

/** Whether the client already has the response with that entity tag. Caches may list several tags, and may make them weak. */
export function hasEtag({ headers }: IncomingMessage, etag: string): boolean {
  const sent = headers['if-none-match'];
  if (sent === undefined || sent === etag) return sent !== undefined;
  return sent.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim()));
}
