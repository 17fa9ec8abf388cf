import { createHash } from 'node:crypto';

/** The entity tag of a representation with that media type, in pieces. */
export function createEtag(type: string, ...pieces: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256').update(type);
  for (const piece of pieces) hash.update(piece);
  return `"${hash.digest('base64url').slice(0, 22)}"`;
}
