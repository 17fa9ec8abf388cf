import { GraphQLError } from 'graphql';
import { orError } from '../../errors.ts';
import { requestError } from './refusal.ts';

/** An operation as a client sends it. */
export type SentOperation = {
  /** `undefined`, `null` or empty if `documentId` or `extensions` names a document. */
  readonly query?: string | null | undefined;
  /** The id of a persisted document, unchecked. */
  readonly documentId?: unknown;
  readonly operationName?: string | null | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined;
};

/** An entry of an array of operations: an operation, or the error of an entry that is none. */
export type Entry = SentOperation | GraphQLError;

/** Decodes a body, or a message of a websocket, without its byte order mark. @throws GraphQLError if it is not UTF-8 */
export function decodeBody(bytes: Uint8Array): string {
  return orBadRequest('The body is not valid UTF-8.', () => UTF_8.decode(bytes));
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Reads a JSON body. @throws GraphQLError if it is none */
export function readJson(bytes: Uint8Array): unknown {
  const text = decodeBody(bytes);
  return orBadRequest('The body is not valid JSON.', () => JSON.parse(text));
}

/** Reads an array of operations. @throws GraphQLError if it is empty or longer than `maxOperations`, or if that is 1 */
export function readEntries(params: readonly unknown[], maxOperations: number): readonly Entry[] {
  if (maxOperations <= 1)
    throw requestError(
      400,
      'Batching is not supported. The setting MAX_OPERATIONS_PER_REQUEST of the gateway allows it.',
    );
  if (params.length === 0) throw requestError(400, 'The array has no operations.');
  if (params.length > maxOperations)
    throw requestError(413, `Batching is limited to ${maxOperations} operations per request.`);
  return params.map((each) => {
    if (each !== null && !isRecord(each))
      return requestError(400, `Expected params to be an object but given ${typeOf(each)}.`);
    return orError(GraphQLError, () => readOperation(each ?? {}));
  });
}

/** Reads the operation in the parameters of a URL. @throws GraphQLError if there is none, or it cannot be read */
export function readFromUrl(url: string): SentOperation {
  if (hasInvalidUtf8(url)) throw requestError(400, 'The URL is not valid UTF-8.');
  const search = searchOf(url);
  const json = (name: string) => {
    const text = search.get(name);
    return text ? orBadRequest('A parameter of the URL is not valid JSON.', () => JSON.parse(text)) : undefined;
  };
  return readOperation({
    query: search.get('query') || undefined,
    documentId: search.get('documentId') ?? undefined,
    operationName: search.get('operationName') || undefined,
    variables: json('variables'),
    extensions: json('extensions'),
  });
}

/** The parameters of a URL. */
export function searchOf(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
}

/** Whether percent-encoded bytes of a URL are not UTF-8. A percent sign that encodes nothing is allowed. */
export function hasInvalidUtf8(url: string): boolean {
  if (!/%[89a-f]/i.test(url)) return false;
  try {
    decodeURIComponent(url.replace(/%(?![\da-f]{2})/gi, '%25'));
    return false;
  } catch {
    return true;
  }
}

/** Maximum length of a name that is quoted. Every known name is shorter. */
const MAX_QUOTED = 100;

/** The names that an object of JSON may have, each with those inside it; `undefined` if all are allowed there. */
type Names = { readonly [name: string]: Names | undefined };

/** The names that are read of an operation. */
export const OPERATION_NAMES: Names = {
  query: undefined,
  documentId: undefined,
  variables: undefined,
  operationName: undefined,
  extensions: { minHeight: undefined, persistedQuery: { version: undefined, sha256Hash: undefined } },
};

/** Deletes the members of an object of JSON that have other names: they would take memory for as long as the object. */
export function deleteOthers(value: unknown, names: Names): void {
  if (!isRecord(value)) return;
  for (const name of Object.keys(value)) {
    const inside = names[name];
    if (!Object.hasOwn(names, name)) delete value[name];
    else if (inside !== undefined) deleteOthers(value[name], inside);
  }
}

/**
 * Checks the parameters of an operation, parsed from JSON. Other names are ignored, as GraphQL over HTTP requires, and deleted.
 *
 * @throws GraphQLError if they name no document, or one has a wrong type
 */
export function readOperation(params: unknown): SentOperation {
  if (!isRecord(params)) throw requestError(400, 'The body must be a JSON object with a query.');

  const { query, operationName, variables, extensions } = params;
  if (query == null && !namesDocument(params)) {
    const other = Object.keys(params).find((name) => !Object.hasOwn(OPERATION_NAMES, name));
    const hint = other === undefined ? '' : ` The body has "${other.slice(0, MAX_QUOTED)}".`;
    throw requestError(400, `Must provide query string.${hint}`);
  }
  for (const [name, value] of Object.entries({ query, operationName }))
    if (value != null && typeof value !== 'string')
      throw requestError(400, `Expected "${name}" param to be a string, but given ${typeOf(value)}.`);
  for (const [name, value] of Object.entries({ variables, extensions }))
    if (value != null && !isRecord(value))
      throw requestError(400, `Expected "${name}" param to be empty or an object, but given ${typeOf(value)}.`);
  deleteOthers(params, OPERATION_NAMES);
  return params;
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Whether a request without a query names a document, as far as its parameters are concerned. */
export function namesDocument(params: { readonly documentId?: unknown; readonly extensions?: unknown }): boolean {
  return params.documentId != null || persistedQueryIn(params.extensions) !== undefined;
}

/** The part of `extensions` that names a query by its hash, unchecked. */
export type PersistedQuery = { readonly version?: unknown; readonly sha256Hash?: unknown };

/** The persisted query that the `extensions` of a request name. */
export function persistedQueryIn(extensions: unknown): PersistedQuery | undefined {
  const named = isRecord(extensions) ? extensions['persistedQuery'] : undefined;
  return typeof named === 'object' && named !== null ? named : undefined;
}

/**
 * The JSON of a value; `undefined` if `JSON.stringify` cannot write it. It needs the stack for each level of nesting, and `JSON.parse`
 * does not: clients can send what can only be read.
 */
export function toJson(value: unknown): string | undefined {
  const json = orError(Error, () => JSON.stringify(value));
  return typeof json === 'string' ? json : undefined;
}

/** Whether a value of JSON is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function orBadRequest<T>(message: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw requestError(400, message);
  }
}
