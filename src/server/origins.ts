import type { IncomingMessage } from 'node:http';
import type { CORSOptions } from 'graphql-yoga';
import { REQUEST_ID_HEADER } from './request-id.ts';

/** What browsers are told of the pages that may ask: nothing where no other origin may, and credentials never. */
export function corsOptions(origins: readonly string[]): CORSOptions | false {
  if (origins.length === 0) return false;
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'POST', 'OPTIONS'],
    allowedHeaders: ['content-type', REQUEST_ID_HEADER],
    exposedHeaders: [REQUEST_ID_HEADER],
    credentials: false,
    maxAge: 86_400,
  };
}

/**
 * Whether a websocket may be opened from where it comes: browsers do not ask before they open one to another origin, so the
 * list holds here or nowhere. What is no browser sends no origin.
 */
export function mayOpenWebSocket({ headers }: IncomingMessage, origins: readonly string[]): boolean {
  const { origin, host } = headers;
  if (origin === undefined || origins.includes('*') || origins.includes(origin.toLowerCase())) return true;
  return URL.parse(origin)?.host === host;
}
