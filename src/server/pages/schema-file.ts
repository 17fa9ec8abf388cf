import type { IncomingMessage, ServerResponse } from 'node:http';
import { printSchema } from 'graphql';
import { schema } from '../../graphql/schema.ts';
import { createEtag, hasEtag } from '../http/http-caching.ts';

/** The path of the schema in GraphQL's schema definition language. */
export const SCHEMA_PATH = '/schema.graphql';

/** Plain text, which browsers display: schemas have no registered media type. */
const MEDIA_TYPE = 'text/plain; charset=utf-8';

let printed: { readonly body: Buffer; readonly etag: string } | undefined;

/** Responds with the schema, or with 304 if the client already has it. */
export function handleSchema(request: IncomingMessage, response: ServerResponse): void {
  printed ??= print();
  const { body, etag } = printed;
  const caching = { etag, 'cache-control': 'no-cache' };
  if (hasEtag(request, etag)) {
    response.writeHead(304, caching);
    response.end();
    return;
  }
  response.writeHead(200, { 'content-type': MEDIA_TYPE, 'content-length': body.length, ...caching });
  response.end(body);
}

function print(): { readonly body: Buffer; readonly etag: string } {
  const body = Buffer.from(`${printSchema(schema)}\n`);
  return { body, etag: createEtag(MEDIA_TYPE, body) };
}
