import { GraphQLError } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import { keyOf } from '../operations/query-responses.ts';
import { isRecord, namesDocument, orError, readJson, readOperation } from '../requests/parameters.ts';

/**
 * The key of the response to a payload that could be the body of a plain HTTP request: its JSON, with a character for each byte.
 *
 * @returns `undefined` if there is none
 */
export function keyOfPayload(payload: SubscribePayload): string | undefined {
  if (orError(() => readOperation(payload)) instanceof GraphQLError) return undefined;
  const { query, ...others } = payload;
  return keyOf(Buffer.from(JSON.stringify(query === '' ? others : payload)).toString('latin1'));
}

/**
 * Parses a message. graphql-ws also accepts parsed messages. It would reference the complete text of a message for as long as
 * the subscription is open. graphql-ws rejects a message that is not an object.
 */
export function parseMessage(bytes: Buffer): string {
  const message = orError(() => readJson(bytes));
  return (isRecord(message) && !(message instanceof GraphQLError) ? withQuery(message) : String(bytes)) as string;
}

/** graphql-ws requires a query, also of an operation that names its document by an id. */
function withQuery(message: Record<string, unknown>): object {
  const { type, payload } = message;
  if (type !== 'subscribe' || !isRecord(payload) || payload['query'] != null || !namesDocument(payload)) return message;
  return { ...message, payload: { ...payload, query: '' } };
}
