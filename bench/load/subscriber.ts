import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

/** A websocket that subscribes to one operation, and looks at nothing but the lengths of what comes. */
export type Subscriber = { end(): void };

/** What a subscriber tells. */
export type SubscriberListener = {
  /** A message has come whole, the acknowledgement aside; its bytes are valid only until this returns. */
  message(text: Buffer): void;
  broken(reason: string): void;
};

/** What a subscriber is made from. */
export type SubscriberOptions = {
  readonly port: number;
  /** The message that subscribes. */
  readonly subscribe: string;
  /** What Node reads into, which all subscribers can share: what was read is looked at before the next is. */
  readonly buffer: Buffer;
  readonly listener: SubscriberListener;
};

const NOTHING = Buffer.alloc(0);

const TEXT = 0x1;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;

/**
 * Subscribes by hand, for the reason that http-connection.ts gives: thousands of clients of a library take longer to read
 * an update than the server takes to send it.
 */
export function openSubscriber({ port, subscribe, buffer, listener }: SubscriberOptions): Subscriber {
  const onread = { buffer, callback: read };
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, onread });
  let isOpen = false;
  let isLetIn = false;
  let isEnding = false;
  let rest: Buffer = NOTHING;

  socket.write(
    [
      'GET /graphql HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      'Sec-WebSocket-Protocol: graphql-transport-ws',
      '\r\n',
    ].join('\r\n'),
  );
  socket.on('error', (error) => listener.broken(error.message));
  socket.on('close', () => {
    if (!isEnding) listener.broken('a websocket was closed');
  });

  function read(length: number): boolean {
    const chunk = buffer.subarray(0, length);
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (isOpen || readHandshake())
      for (let size = readFrame(); size > 0; size = readFrame()) rest = rest.subarray(size);
    // The next is read into the same buffer.
    rest = rest.length === 0 ? NOTHING : Buffer.from(rest);
    return true;
  }

  function readHandshake(): boolean {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return false;
    if (rest.toString('latin1', 9, 12) !== '101') listener.broken(`not let in: ${rest.toString('latin1', 0, end)}`);
    isOpen = true;
    rest = rest.subarray(end + 4);
    socket.write(clientFrame(TEXT, Buffer.from('{"type":"connection_init"}')));
    return true;
  }

  /** Reads the first frame of what is there. @returns its length, 0 while it is not whole */
  function readFrame(): number {
    if (rest.length < 2) return 0;
    const short = rest.readUInt8(1) & 0x7f;
    const start = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (rest.length < start) return 0;
    const length = short === 127 ? Number(rest.readBigUInt64BE(2)) : short === 126 ? rest.readUInt16BE(2) : short;
    if (rest.length < start + length) return 0;

    const payload = rest.subarray(start, start + length);
    const kind = rest.readUInt8(0) & 0xf;
    if (kind === PING) socket.write(clientFrame(PONG, payload));
    else if (kind === CLOSE) listener.broken(`closed: ${payload.subarray(2)}`);
    else if (kind === TEXT && isLetIn) listener.message(payload);
    else if (kind === TEXT) subscribeOnce(payload);
    return start + length;
  }

  function subscribeOnce(payload: Buffer): void {
    if (payload.indexOf('"connection_ack"') < 0) return;
    isLetIn = true;
    socket.write(clientFrame(TEXT, Buffer.from(subscribe)));
  }

  return {
    end() {
      isEnding = true;
      socket.destroy();
    },
  };
}

/** A whole frame as clients send it; its mask is of zeros, which leaves the payload as it is. */
function clientFrame(kind: number, payload: Buffer): Buffer {
  const length =
    payload.length < 126
      ? Buffer.from([0x80 | payload.length])
      : Buffer.from([0x80 | 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([Buffer.from([0x80 | kind]), length, Buffer.alloc(4), payload]);
}
