import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Connection, ResponseInfo } from './connection.ts';

/** The head of a response. If there is no length, the body is chunked. */
type Head = { readonly bytes: Buffer; readonly status: number; readonly length: number | undefined };

const NO_BODY: ReadonlySet<number> = new Set([204, 304]);
const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const ERRORS = Buffer.from('{"errors"');

/**
 * Opens an HTTP connection to a port of this machine. It parses responses itself: the HTTP clients of libraries take about as
 * much time as the measured servers. It supports responses with a content-length, chunked ones, and those without a body.
 *
 * @param buffer The buffer into which Node reads. All connections can share it, because each read is processed before the next.
 *   A buffer for each read would take as much time as a small response.
 * @param onBroken Called when the connection ends before `end` is called.
 */
export function openHttpConnection(port: number, buffer: Buffer, onBroken: (reason: string) => void): Connection {
  const onread = { buffer, callback: read };
  const socket: Socket = connect({ host: '127.0.0.1', port, noDelay: true, onread });
  let onResponse: ((response: ResponseInfo) => void) | undefined;
  /** The beginning of a response whose head is incomplete. */
  let incomplete: Buffer | undefined;
  /** The last head. Most heads are the same for a second, and need not be parsed again. */
  let head: Head | undefined;
  let isError = false;
  /** How many bytes of the body are missing; `undefined` for a chunked one. */
  let missing: number | undefined = 0;
  let tail = Buffer.alloc(0);
  let isEnding = false;

  socket.on('error', (error) => onBroken(error.message));
  socket.on('close', () => {
    if (!isEnding) onBroken('a connection was closed');
  });

  function read(length: number): boolean {
    const chunk = buffer.subarray(0, length);
    if (incomplete === undefined) {
      readBody(chunk);
      return true;
    }
    const text = incomplete.length === 0 ? chunk : Buffer.concat([incomplete, chunk]);
    const end = text.indexOf(HEAD_END);
    if (end < 0) incomplete = Buffer.from(text);
    else readHead(text, end + HEAD_END.length);
    return true;
  }

  function readHead(text: Buffer, bodyStart: number): void {
    incomplete = undefined;
    const isSame = head?.bytes.length === bodyStart && text.compare(head.bytes, 0, bodyStart, 0, bodyStart) === 0;
    head = isSame && head !== undefined ? head : toHead(text.subarray(0, bodyStart));
    isError = text.compare(ERRORS, 0, ERRORS.length, bodyStart, Math.min(text.length, bodyStart + ERRORS.length)) === 0;
    missing = head.length;
    if (missing === undefined) tail = Buffer.alloc(0);
    readBody(text.subarray(bodyStart));
  }

  function readBody(chunk: Buffer): void {
    if (missing === undefined) {
      tail = Buffer.concat([tail, chunk]).subarray(-LAST_CHUNK.length);
      if (tail.equals(LAST_CHUNK)) complete();
      return;
    }
    missing -= chunk.length;
    if (missing === 0) complete();
    else if (missing < 0) onBroken('a response was longer than its content-length');
  }

  function complete(): void {
    const callback = onResponse;
    onResponse = undefined;
    callback?.({ status: head?.status ?? 0, isError });
  }

  return {
    opened: once(socket, 'connect'),
    send(request, callback) {
      onResponse = callback;
      incomplete = Buffer.alloc(0);
      socket.write(request);
    },
    end() {
      isEnding = true;
      socket.destroy();
    },
  };
}

function toHead(bytes: Buffer): Head {
  const fields = bytes.toString('latin1');
  const status = Number(fields.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(fields)?.[1];
  // The bytes are part of the buffer into which Node reads.
  return {
    bytes: Buffer.from(bytes),
    status,
    length: NO_BODY.has(status) ? 0 : length === undefined ? undefined : Number(length),
  };
}
