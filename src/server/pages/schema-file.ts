import type { IncomingMessage, ServerResponse } from 'node:http';
import { printSchema } from 'graphql';
import { schema } from '../../graphql/schema.ts';

/** The path of the schema in GraphQL's schema definition language. */
export const SCHEMA_PATH = '/schema.graphql';

let printed: Buffer | undefined;

/** Responds with the schema as plain text, which browsers display. */
export function handleSchema(_request: IncomingMessage, response: ServerResponse): void {
  printed ??= Buffer.from(`${printSchema(schema)}\n`);
  response.writeHead(200, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': printed.length,
    'cache-control': 'no-cache',
  });
  response.end(printed);
}
