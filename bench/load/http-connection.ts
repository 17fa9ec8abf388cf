import { connect, type Socket } from 'node:net';

/** One answer, as far as it is looked at. */
export type Answered = {
  readonly status: number;
  readonly bytes: number;
  /** It begins as a GraphQL answer with errors does. */
  readonly isError: boolean;
};

/**
 * A kept connection that sends finished bytes and finds the end of each answer, by hand: a client of a library costs about
 * as much as the servers that are measured, and would be what is measured. Knows answers with a content-length, chunked
 * ones, and those without a body.
 */
export type HttpConnection = {
  /** Sends a request; one at a time. `answered` is called when its answer is whole. */
  send(request: Buffer, answered: (answer: Answered) => void): void;
  end(): void;
};

const NO_BODY: ReadonlySet<number> = new Set([204, 304]);
const HEAD_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');

/** Opens a connection to a port of this machine; `broken` is called when it ends without having been told to. */
export function openHttpConnection(port: number, broken: (reason: string) => void): HttpConnection {
  const socket: Socket = connect({ host: '127.0.0.1', port, noDelay: true });
  let answered: ((answer: Answered) => void) | undefined;
  /** What has come of an answer whose head is not whole yet. */
  let head: Buffer | undefined;
  let answer: Answered = { status: 0, bytes: 0, isError: false };
  /** How much of a body is to come; `undefined` for a chunked one. */
  let left: number | undefined = 0;
  let tail = Buffer.alloc(0);
  let isEnding = false;

  socket.on('data', (chunk) => {
    if (head === undefined) {
      readBody(chunk);
      return;
    }
    const text = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    const end = text.indexOf(HEAD_END);
    if (end < 0) head = text;
    else readHead(text, end + HEAD_END.length);
  });
  socket.on('error', (error) => broken(error.message));
  socket.on('close', () => {
    if (!isEnding) broken('a connection was closed');
  });

  function readHead(text: Buffer, bodyStart: number): void {
    head = undefined;
    const fields = text.toString('latin1', 0, bodyStart);
    const status = Number(fields.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(fields)?.[1];
    answer = { status, bytes: 0, isError: text.toString('latin1', bodyStart, bodyStart + 9) === '{"errors"' };
    left = NO_BODY.has(status) ? 0 : length === undefined ? undefined : Number(length);
    tail = Buffer.alloc(0);
    readBody(text.subarray(bodyStart));
  }

  function readBody(chunk: Buffer): void {
    answer = { ...answer, bytes: answer.bytes + chunk.length };
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
    told?.(answer);
  }

  return {
    send(request, whenAnswered) {
      answered = whenAnswered;
      head = Buffer.alloc(0);
      socket.write(request);
    },
    end() {
      isEnding = true;
      socket.destroy();
    },
  };
}
