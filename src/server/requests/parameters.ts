import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { namesDocument } from '../operations/persisted-queries.ts';
import type { SentOperation } from '../operations/pipeline.ts';
import { readContentType } from './media-types.ts';

/** Whether the headers of a POST announce a JSON body of an allowed size. */
export function hasPlainBody({ headers }: IncomingMessage, maxBytes: number): boolean {
  const { 'content-type': type, 'content-length': length } = headers;
  if (length === undefined || headers['content-encoding'] !== undefined) return false;
  return readContentType(type) === 'json' && Number(length) > 0 && Number(length) <= maxBytes;
}

/**
 * The body of a request that other code of the process, such as `express.json()`, has read before; `undefined` if none has. Such
 * code leaves what it has read in `request.body`, decompressed and, if it is no buffer, decoded: the headers are changed to
 * describe the returned body.
 */
export function readBefore(request: IncomingMessage & { readonly body?: unknown }): Buffer | undefined {
  if (!request.readableEnded) return undefined;
  const { headers, body = '' } = request;
  const { 'content-type': type } = headers;
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  delete headers['content-encoding'];
  headers['content-length'] = String(bytes.length);
  if (bytes !== body && type !== undefined) headers['content-type'] = type.replace(/;\s*charset=[^;]*/i, '');
  return bytes;
}

/** Reads the body of a request. The callback is not called if the client disconnects before the end. */
export function readBody(request: IncomingMessage, onBody: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => onBody(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
}

/**
 * Reads the operation in a JSON body; `undefined` if it is not one plain operation.
 *
 * @param latin1 the body with a character for each byte
 */
export function readBodyParameters(body: Buffer, latin1: string): SentOperation | undefined {
  try {
    if (isAscii(body)) return toOperation(JSON.parse(latin1));
    return isUtf8(body) ? toOperation(JSON.parse(body.toString())) : undefined;
  } catch {
    return undefined;
  }
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

/** Reads the operation in the parameters of a URL; `undefined` if it is not one plain operation. */
export function readSearchParameters(search: URLSearchParams): SentOperation | undefined {
  const json = (name: string) => {
    const text = search.get(name);
    return text ? JSON.parse(text) : undefined;
  };
  try {
    return toOperation({
      query: search.get('query') || undefined,
      documentId: search.get('documentId') ?? undefined,
      operationName: search.get('operationName') || undefined,
      variables: json('variables'),
      extensions: json('extensions'),
    });
  } catch {
    return undefined;
  }
}

const NAMES: ReadonlySet<string> = new Set(['query', 'documentId', 'variables', 'operationName', 'extensions']);

function toOperation(params: unknown): SentOperation | undefined {
  if (!isRecord(params)) return undefined;
  for (const name in params) if (!NAMES.has(name)) return undefined;

  const { query, variables, operationName, extensions } = params;
  const isPlain =
    (typeof query === 'string' || (query == null && namesDocument(params))) &&
    (variables == null || isRecord(variables)) &&
    (operationName == null || typeof operationName === 'string') &&
    (extensions == null || isRecord(extensions));
  return isPlain ? (params as SentOperation) : undefined;
}

/** Whether a value of JSON is an object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
