import type { IncomingMessage } from 'node:http';
import { toJson } from '../requests/parameters.ts';

const OPENING_BRACE = 0x7b;

/** Whether a body of JSON is an array, as far as its first character says. */
export function isArray(body: Buffer): boolean {
  return body[0] !== OPENING_BRACE && /^(?:\xef\xbb\xbf)?\s*\[/.test(body.toString('latin1'));
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
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : (toJson(body) ?? ''));
  delete headers['content-encoding'];
  headers['content-length'] = String(bytes.length);
  if (bytes !== body && type !== undefined) headers['content-type'] = type.replace(/;\s*charset=[^;]*/i, '');
  return bytes;
}

/**
 * How many chunks are read in one turn of the event loop, and then joined: a client can send chunks of one byte, and each takes 100
 * bytes more than its own.
 */
const CHUNKS_PER_TURN = 1_024;

/** How long a client may go on sending a body that is too large, before it is disconnected. */
const LINGER_MS = 1_000;

/**
 * Reads the body of a request, unless other code has read it `before`. `onBody` is called with `undefined` as soon as there are
 * more than `maxBytes`, and not at all if the client disconnects before the end.
 */
export function readRequestBody(
  request: IncomingMessage,
  before: Buffer | undefined,
  maxBytes: number,
  onBody: (body: Buffer | undefined) => void,
): void {
  if (before !== undefined) {
    onBody(before.length > maxBytes ? undefined : before);
    return;
  }
  const joined: Buffer[] = [];
  let chunks: Buffer[] = [];
  let size = 0;
  let count = 0;
  let disconnecting: NodeJS.Timeout | undefined;
  const refuse = () => {
    disconnecting = setTimeout(() => request.destroy(), LINGER_MS).unref();
    onBody(undefined);
  };
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) refuse();
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (disconnecting === undefined && size > maxBytes) refuse();
    if (disconnecting === undefined) chunks.push(chunk);
    count += 1;
    if (count % CHUNKS_PER_TURN !== 0) return;
    joined.push(Buffer.concat(chunks));
    chunks = [];
    request.pause();
    setImmediate(() => request.resume());
  });
  request.on('end', () => {
    clearTimeout(disconnecting);
    const all = [...joined, ...chunks];
    if (disconnecting === undefined) onBody(all.length === 1 && all[0] ? all[0] : Buffer.concat(all));
  });
}
