import { GraphQLError } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import {
  isRecord,
  namesDocument,
  orError,
  readJson,
  readOperation,
  type SentOperation,
} from '../requests/parameters.ts';

/** The payload of a `subscribe` message that could be the body of a plain HTTP request. graphql-ws hands it on as it is. */
export class OperationPayload implements SentOperation {
  /** Empty if the message has none: graphql-ws requires a string. */
  query: string;
  documentId: SentOperation['documentId'];
  operationName: SentOperation['operationName'];
  variables: SentOperation['variables'];
  extensions: SentOperation['extensions'];
  /** Its text in the message, with a character for each byte. */
  text: string;

  constructor(sent: SentOperation, text: string) {
    this.query = sent.query ?? '';
    this.documentId = sent.documentId;
    this.operationName = sent.operationName;
    this.variables = sent.variables;
    this.extensions = sent.extensions;
    this.text = text;
  }
}

/** The text of a payload, if it is known. */
export function textOfPayload(payload: SubscribePayload): string | undefined {
  return payload instanceof OperationPayload ? payload.text : undefined;
}

/** The start of a `subscribe` message whose payload comes last, as clients write it, with an id that needs no decoding. */
const START =
  /^\{\s*(?:"id"\s*:\s*"[\w:.-]+"\s*,\s*"type"\s*:\s*"subscribe"|"type"\s*:\s*"subscribe"\s*,\s*"id"\s*:\s*"[\w:.-]+")\s*,\s*"payload"\s*:\s*(?=\{)/;

/** Removes a byte order mark. */
const UTF_8 = new TextDecoder();

/**
 * Parses a message. graphql-ws also accepts parsed messages. It would reference the complete text of a message for as long as
 * the subscription is open. graphql-ws rejects a message that is not an object.
 */
export function parseMessage(message: Buffer): string {
  return (parseSubscribe(message) ?? parseAny(UTF_8.decode(message))) as string;
}

/** Parses the payload by itself, so that its text is known to be valid JSON: it may become the key of a stored response. */
function parseSubscribe(message: Buffer): object | undefined {
  const latin1 = message.toString('latin1');
  const [start] = START.exec(latin1) ?? [];
  if (start === undefined || !latin1.endsWith('}')) return undefined;
  const text = latin1.slice(start.length, -1);
  const sent = orError(() => readOperation(readJson(message.subarray(start.length, -1))));
  if (sent instanceof GraphQLError) return undefined;
  return { ...JSON.parse(`${start}null}`), payload: new OperationPayload(sent, text) };
}

function parseAny(text: string): unknown {
  try {
    const message: unknown = JSON.parse(text);
    return isRecord(message) ? withQuery(message) : text;
  } catch {
    return text;
  }
}

/** graphql-ws requires a query, also of an operation that names its document by an id. */
function withQuery(message: Record<string, unknown>): object {
  const { type, payload } = message;
  if (type !== 'subscribe' || !isRecord(payload) || payload['query'] != null || !namesDocument(payload)) return message;
  return { ...message, payload: { ...payload, query: '' } };
}
