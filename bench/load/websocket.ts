import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

/** A websocket of a GraphQL client, with the protocol graphql-transport-ws. */
export type ClientWebSocket = {
  /** Sends a frame of {@link textFrame}. */
  send(frame: Buffer): void;
  end(): void;
};

/** The callbacks of a websocket. */
type WebSocketCallbacks = {
  /** The server has acknowledged the connection. Operations can be sent. */
  onOpen(): void;
  /** A complete message has arrived. Its bytes are valid only until this returns. */
  onMessage(text: Buffer): void;
  /** The websocket has ended before `end` was called, or the server has violated the protocol. */
  onBroken(reason: string): void;
};

const NOTHING = Buffer.alloc(0);

const TEXT = 0x1;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;

/**
 * Opens a websocket to a port of this machine. It parses frames itself: thousands of clients of a library take longer to read
 * an update than the server takes to send it.
 *
 * @param buffer The buffer into which Node reads. All websockets can share it, because each read is processed before the next.
 */
export function openWebSocket(port: number, buffer: Buffer, callbacks: WebSocketCallbacks): ClientWebSocket {
  const onread = { buffer, callback: read };
  const socket = connect({ host: '127.0.0.1', port, noDelay: true, onread });
  let isUpgraded = false;
  let isOpen = false;
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
  socket.on('error', (error) => callbacks.onBroken(error.message));
  socket.on('close', () => {
    if (!isEnding) callbacks.onBroken('a websocket was closed');
  });

  function read(length: number): boolean {
    const chunk = buffer.subarray(0, length);
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (isUpgraded || readHandshake())
      for (let size = readFrame(); size > 0; size = readFrame()) rest = rest.subarray(size);
    // The next read overwrites the buffer.
    rest = rest.length === 0 ? NOTHING : Buffer.from(rest);
    return true;
  }

  function readHandshake(): boolean {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return false;
    if (rest.toString('latin1', 9, 12) !== '101')
      callbacks.onBroken(`the upgrade failed: ${rest.toString('latin1', 0, end)}`);
    isUpgraded = true;
    rest = rest.subarray(end + 4);
    socket.write(textFrame('{"type":"connection_init"}'));
    return true;
  }

  /** Reads the first frame of the buffered bytes. @returns its length, 0 while it is incomplete */
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
    else if (kind === CLOSE) callbacks.onBroken(`closed: ${payload.subarray(2)}`);
    else if (kind === TEXT && isOpen) callbacks.onMessage(payload);
    else if (kind === TEXT) readAcknowledgement(payload);
    return start + length;
  }

  function readAcknowledgement(payload: Buffer): void {
    if (payload.indexOf('"connection_ack"') < 0) return;
    isOpen = true;
    callbacks.onOpen();
  }

  return {
    send: (frame) => void socket.write(frame),
    end() {
      isEnding = true;
      socket.destroy();
    },
  };
}

/** Encodes a text message in one frame, as clients send it. */
export function textFrame(text: string): Buffer {
  return clientFrame(TEXT, Buffer.from(text));
}

/** The mask is zero, so that the payload stays as it is. */
function clientFrame(kind: number, payload: Buffer): Buffer {
  const length =
    payload.length < 126
      ? Buffer.from([0x80 | payload.length])
      : Buffer.from([0x80 | 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([Buffer.from([0x80 | kind]), length, Buffer.alloc(4), payload]);
}
