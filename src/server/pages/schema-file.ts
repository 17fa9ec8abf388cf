import type { IncomingMessage, ServerResponse } from 'node:http';
import { printSchema } from 'graphql';
import { schema } from '../../graphql/schema.ts';
import { createFile, type ServedFile, sendFile } from './file-response.ts';

/** The path of the schema in GraphQL's schema definition language. */
export const SCHEMA_PATH = '/schema.graphql';

/** Plain text, which browsers display: schemas have no registered media type. */
const MEDIA_TYPE = 'text/plain; charset=utf-8';

let printed: ServedFile | undefined;

/** Responds with the schema, or with 304 if the client already has it. */
export function handleSchema(request: IncomingMessage, response: ServerResponse): void {
  printed ??= createFile(MEDIA_TYPE, { identity: Buffer.from(`${printSchema(schema)}\n`) });
  sendFile(request, response, printed);
}
