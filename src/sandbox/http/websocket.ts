import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

type Events = { message: [text: string, isBinary: boolean]; ping: [data: Buffer]; close: [] };

/** RFC 6455, section 1.3. */
const ACCEPT_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const CONTINUATION = 0x0;
const TEXT = 0x1;
const BINARY = 0x2;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;

/**
 * The server's side of a websocket, after RFC 6455: as much of it as a node needs. It has neither subprotocols nor extensions, and
 * it pings nobody. It is written here so that the sandbox runs without any package.
 */
export class ServerSocket extends EventEmitter<Events> {
  readonly #socket: Duplex;
  #received = Buffer.alloc(0);
  #fragments: Buffer[] = [];
  #isBinary = false;

  /** Accepts the upgrade. Events begin in a later turn of the event loop. */
  constructor({ headers }: IncomingMessage, socket: Duplex, head: Buffer) {
    super();
    this.#socket = socket;
    const accept = createHash('sha1').update(`${headers['sec-websocket-key']}${ACCEPT_GUID}`).digest('base64');
    const lines = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
    socket.once('close', () => this.emit('close'));
    socket.on('end', () => socket.end());
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    if (head.length > 0) setImmediate(() => this.#read(head));
  }

  send(text: string, { binary }: { readonly binary: boolean }): void {
    this.#write(binary ? BINARY : TEXT, Buffer.from(text));
  }

  pong(data: Buffer): void {
    this.#write(PONG, data);
  }

  /** Closes the connection without a closing handshake. */
  terminate(): void {
    this.#socket.destroy();
  }

  #write(opcode: number, payload: Buffer): void {
    if (this.#socket.writable) this.#socket.write(Buffer.concat([headOf(opcode, payload.length), payload]));
  }

  #read(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    for (let frame = readFrame(this.#received); frame !== undefined; frame = readFrame(this.#received)) {
      this.#received = this.#received.subarray(frame.length);
      this.#handle(frame);
    }
  }

  #handle({ opcode, isLast, payload }: Frame): void {
    if (opcode === PING) this.emit('ping', payload);
    else if (opcode === CLOSE) {
      this.#write(CLOSE, payload);
      this.#socket.end();
    } else if (opcode === TEXT || opcode === BINARY || opcode === CONTINUATION) {
      if (opcode !== CONTINUATION) this.#isBinary = opcode === BINARY;
      this.#fragments.push(payload);
      if (!isLast) return;
      const text = Buffer.concat(this.#fragments).toString();
      this.#fragments = [];
      this.emit('message', text, this.#isBinary);
    }
  }
}

/** A frame of a client, unmasked. `length` is that of all its bytes. */
type Frame = { readonly opcode: number; readonly isLast: boolean; readonly payload: Buffer; readonly length: number };

/** Reads the first frame. `undefined` until all of its bytes have arrived. */
function readFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  const short = second & 0x7f;
  const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
  const maskAt = 2 + extra;
  const isMasked = (second & 0x80) !== 0;
  const payloadAt = maskAt + (isMasked ? 4 : 0);
  if (bytes.length < payloadAt) return undefined;
  const size = extra === 0 ? short : extra === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  if (bytes.length < payloadAt + size) return undefined;

  const payload = Buffer.from(bytes.subarray(payloadAt, payloadAt + size));
  if (isMasked) for (let i = 0; i < size; i++) payload[i] = (payload[i] ?? 0) ^ (bytes[maskAt + (i % 4)] ?? 0);
  return { opcode: first & 0x0f, isLast: (first & 0x80) !== 0, payload, length: payloadAt + size };
}

/** The head of a complete frame of a server, which is not masked. */
function headOf(opcode: number, size: number): Buffer {
  const first = 0x80 | opcode;
  if (size < 126) return Buffer.of(first, size);
  if (size < 2 ** 16) return Buffer.of(first, 126, size >> 8, size & 0xff);
  const head = Buffer.alloc(10);
  head[0] = first;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(size), 2);
  return head;
}
