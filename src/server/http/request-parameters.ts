import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { SentOperation } from '../operations/pipeline.ts';
import { readContentType } from './content-type.ts';

/** Whether a POST has a JSON body of a size that is known and allowed, as far as its head tells. */
export function hasPlainBody({ headers }: IncomingMessage, maxBytes: number): boolean {
  const { 'content-type': type, 'content-length': length } = headers;
  if (length === undefined || headers['content-encoding'] !== undefined) return false;
  return readContentType(type) === 'json' && Number(length) > 0 && Number(length) <= maxBytes;
}

/** Calls back with the whole body of a request; never where its client leaves before that. */
export function readBody(request: IncomingMessage, whole: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => whole(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
}

/**
 * Reads what a JSON body asks for; `undefined` for everything that is not a single plain query.
 *
 * @param latin1 the body with a character for each byte
 */
export function readBodyParameters(body: Buffer, latin1: string): SentOperation | undefined {
  try {
    if (isAscii(body)) return toPlainParams(JSON.parse(latin1));
    return isUtf8(body) ? toPlainParams(JSON.parse(body.toString())) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether percent-encoded bytes of a URL are not UTF-8. A percent sign that encodes nothing stands for itself. */
export function hasInvalidUtf8(url: string): boolean {
  if (!/%[89a-f]/i.test(url)) return false;
  try {
    decodeURIComponent(url.replace(/%(?![\da-f]{2})/gi, '%25'));
    return false;
  } catch {
    return true;
  }
}

/** Reads what the parameters of a URL ask for; `undefined` for everything that is not a single plain query. */
export function readSearchParameters(search: URLSearchParams): SentOperation | undefined {
  const json = (name: string) => {
    const text = search.get(name);
    return text ? JSON.parse(text) : undefined;
  };
  try {
    return toPlainParams({
      query: search.get('query') || undefined,
      operationName: search.get('operationName') || undefined,
      variables: json('variables'),
      extensions: json('extensions'),
    });
  } catch {
    return undefined;
  }
}

const NAMES: ReadonlySet<string> = new Set(['query', 'variables', 'operationName', 'extensions']);

function toPlainParams(params: unknown): SentOperation | undefined {
  if (!isRecord(params)) return undefined;
  for (const name in params) if (!NAMES.has(name)) return undefined;

  const { query, variables, operationName, extensions } = params;
  const isPlain =
    (typeof query === 'string' || (query === undefined && isRecord(extensions) && 'persistedQuery' in extensions)) &&
    (variables == null || isRecord(variables)) &&
    (operationName == null || typeof operationName === 'string') &&
    (extensions == null || isRecord(extensions));
  return isPlain ? (params as SentOperation) : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
