import type { IncomingMessage } from 'node:http';

/** The content encodings of pages and files that are compressed before they are requested. */
export type Encoding = 'br' | 'gzip' | 'identity';

/** The best of these encodings that the client accepts. A weight of 0 means that it does not. */
export function acceptedEncoding({ headers }: IncomingMessage): Encoding {
  const accepted = String(headers['accept-encoding'] ?? '');
  if (BROTLI.test(accepted)) return 'br';
  return GZIP.test(accepted) ? 'gzip' : 'identity';
}

const BROTLI = /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;
const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;
