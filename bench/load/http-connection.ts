import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Answered, Connection } from './connection.ts';

/** The head of an answer; without a length the body is chunked. */
type Head = { readonly bytes: Buffer; readonly status: number; readonly length: number | undefined };

const NO_BODY: ReadonlySet<number> = new Set([204, 304]);
const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');
const ERRORS = Buffer.from('{"errors"');

/**
 * Opens an HTTP connection to a port of this machine; `broken` is called when it ends without having been told to. It sends
 * bytes and finds the end of each answer by hand: a client of a library costs about as much as the servers that are measured,
 * and would be what is measured. It knows answers with a content-length, chunked ones, and those without a body.
 *
 * @param buffer what Node reads into, which all connections can share: what was read is looked at before the next is.
 *   Making a buffer for each read costs as much as a small answer.
 */
export function openHttpConnection(port: number, buffer: Buffer, broken: (reason: string) => void): Connection {
  const onread = { buffer, callback: read };
  const socket: Socket = connect({ host: '127.0.0.1', port, noDelay: true, onread });
  let answered: ((answer: Answered) => void) | undefined;
  /** What has come of an answer whose head is not whole yet. */
  let begun: Buffer | undefined;
  /** The last head: most are the same for a second, and need not be read again. */
  let head: Head | undefined;
  let isError = false;
  let bytes = 0;
  /** How much of a body is to come; `undefined` for a chunked one. */
  let left: number | undefined = 0;
  let tail = Buffer.alloc(0);
  let isEnding = false;

  socket.on('error', (error) => broken(error.message));
  socket.on('close', () => {
    if (!isEnding) broken('a connection was closed');
  });

  function read(length: number): boolean {
    const chunk = buffer.subarray(0, length);
    if (begun === undefined) {
      readBody(chunk);
      return true;
    }
    const text = begun.length === 0 ? chunk : Buffer.concat([begun, chunk]);
    const end = text.indexOf(HEAD_END);
    if (end < 0) begun = Buffer.from(text);
    else readHead(text, end + HEAD_END.length);
    return true;
  }

  function readHead(text: Buffer, bodyStart: number): void {
    begun = undefined;
    const isSame = head?.bytes.length === bodyStart && text.compare(head.bytes, 0, bodyStart, 0, bodyStart) === 0;
    head = isSame && head !== undefined ? head : toHead(text.subarray(0, bodyStart));
    isError = text.compare(ERRORS, 0, ERRORS.length, bodyStart, Math.min(text.length, bodyStart + ERRORS.length)) === 0;
    left = head.length;
    bytes = 0;
    if (left === undefined) tail = Buffer.alloc(0);
    readBody(text.subarray(bodyStart));
  }

  function readBody(chunk: Buffer): void {
    bytes += chunk.length;
    if (left === undefined) {
      tail = Buffer.concat([tail, chunk]).subarray(-LAST_CHUNK.length);
      if (tail.equals(LAST_CHUNK)) whole();
      return;
    }
    left -= chunk.length;
    if (left === 0) whole();
    else if (left < 0) broken('an answer went on behind its end');
  }

  function whole(): void {
    const told = answered;
    answered = undefined;
    told?.({ status: head?.status ?? 0, bytes, isError });
  }

  return {
    opened: once(socket, 'connect'),
    send(request, whenAnswered) {
      answered = whenAnswered;
      begun = Buffer.alloc(0);
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
  // What came is part of the buffer that the next is read into.
  return {
    bytes: Buffer.from(bytes),
    status,
    length: NO_BODY.has(status) ? 0 : length === undefined ? undefined : Number(length),
  };
}
