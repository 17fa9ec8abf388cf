import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createStallCheck } from '../requests/stalled.ts';

/** Maximum size of the messages that wait for a client before nothing more is read from it. */
const MAX_WAITING_BYTES = 2 ** 20;

/** After this many bytes of messages, the next message of a client waits for the next `setImmediate`. */
const BYTES_PER_TURN = 4_096;

/** As how many bytes a short message counts, so that eight of them are handled together: each can take some milliseconds. */
const MIN_MESSAGE_BYTES = 512;

/** Maximum number of pongs in a period that answer no ping. RFC 6455, 5.5.3 allows them, and one write can have 100,000. */
const MAX_OTHER_PONGS = 1_000;

/** How often a websocket that is to be closed looks whether its operations have ended. */
const POLL_MS = 10;

/** How long a client may take to complete the closing handshake. */
const HANDSHAKE_MS = 1_000;

/** The bytes of a close reason (RFC 6455, 5.5), and the UTF-16 code units that surely fit. */
const MAX_REASON_BYTES = 123;
const SHORT_REASON = 41;

/** The websocket of a client. Its state is in fields, so that nothing is looked up by socket. */
export class ClientSocket extends WebSocket {
  /** When it was opened, in `performance.now()`. */
  readonly openedAt = performance.now();
  /** The number of operations that are being prepared or executed. */
  inProgress = 0;
  /** The close code that was sent; `undefined` before that, and if the code has no frame. */
  sentCode: number | undefined = undefined;

  /** Messages that wait for a later turn of the event loop. */
  readonly #waiting: Buffer[] = [];

  /** Whether `close` was emitted. */
  get closed(): boolean {
    return this.readyState === this.CLOSED;
  }

  /** Starts the closing handshake, or completes that of the client with its code. */
  override close(code?: number, reason = ''): void {
    // graphql-ws repeats the id of an operation, which can be of any length.
    super.close(code, Buffer.byteLength(reason) > MAX_REASON_BYTES ? reason.slice(0, SHORT_REASON) : reason);
    this.sentCode ??= code;
  }

  /**
   * Calls a function with each message, in their order. One write of a client can have thousands: then they are distributed over
   * several turns of the event loop.
   */
  readInTurns(read: (message: Buffer) => void): void {
    let bytesInThisTurn = 0;
    const handle = (message: Buffer) => {
      if (bytesInThisTurn === 0)
        setImmediate(() => {
          bytesInThisTurn = 0;
          while (bytesInThisTurn < BYTES_PER_TURN) {
            const next = this.#waiting.shift();
            if (next === undefined) break;
            handle(next);
          }
          this.#resumeIfDone();
        });
      bytesInThisTurn += Math.max(message.length, MIN_MESSAGE_BYTES);
      if (!this.closed) read(message);
    };
    this.on('message', (message: Buffer) => {
      if (bytesInThisTurn < BYTES_PER_TURN) {
        handle(message);
        return;
      }
      this.#waiting.push(message);
      this.pause();
    });
  }

  #resumeIfDone(): void {
    if (this.isPaused && this.#waiting.length === 0 && this.bufferedAmount <= MAX_WAITING_BYTES) this.resume();
  }

  /**
   * Pings the client in each period, and terminates the websocket if no pong has arrived a period after the ping was
   * written. A ping waits behind what was sent before it, so the websocket is also terminated within two periods if no byte of that
   * moves. A client that sends very many pongs without a ping is terminated too.
   *
   * @param wire the socket under this one
   */
  keepAlive(periodMs: number, wire: Socket): void {
    // Clients cannot guess it: a pong shows that the client has read everything before its ping.
    let pending: string | undefined;
    let isWritten = false;
    let otherPongs = 0;
    const timer = setInterval(() => {
      otherPongs = 0;
      // While nothing is read from a client, its pong is not read either.
      if (pending !== undefined) {
        if (isWritten && !this.isPaused) this.terminate();
        return;
      }
      pending = randomUUID();
      isWritten = false;
      this.ping(pending, false, (error) => {
        isWritten = true;
        if (!error) timer.refresh();
      });
    }, periodMs).unref();
    this.on('pong', (data) => {
      if (String(data) === pending) pending = undefined;
      else if (++otherPongs > MAX_OTHER_PONGS) this.terminate();
    });
    const isStalled = createStallCheck(() => (wire.writableLength > 0 ? wire : undefined));
    const stallTimer = setInterval(() => isStalled() && this.terminate(), periodMs * 0.75).unref();
    this.on('close', () => {
      clearInterval(timer);
      clearInterval(stallTimer);
    });
  }

  /** Counts an operation as in progress until it settles. */
  async track<T>(operation: Promise<T>): Promise<T> {
    this.inProgress += 1;
    try {
      return await operation;
    } finally {
      this.inProgress -= 1;
    }
  }

  /**
   * Closes the websocket with 1001 when its operations in progress have ended, and terminates it if its client does not
   * complete the closing handshake: both within about this time.
   */
  async closeGracefully(timeoutMs: number): Promise<void> {
    const end = performance.now() + timeoutMs - HANDSHAKE_MS;
    while (this.inProgress > 0 && !this.closed && performance.now() < end) await sleep(POLL_MS);
    if (this.closed) return;
    setTimeout(() => this.terminate(), HANDSHAKE_MS).unref();
    this.close(1001, 'Going away');
  }

  /** Resolves when everything that was sent is written; `undefined` if it is written already. @param wire the socket under this one */
  untilWritten(wire: Duplex): Promise<void> | undefined {
    if (wire.writableLength === 0 || this.readyState !== this.OPEN) return undefined;
    // While a client sends operations without reading their results, nothing more is read from it: they would fill the memory.
    if (this.bufferedAmount > MAX_WAITING_BYTES) this.pause();
    return new Promise((resolve) => {
      // The callback of an empty write is called when all writes before it have finished.
      wire.write(EMPTY, () => {
        this.#resumeIfDone();
        resolve();
      });
    });
  }
}

const EMPTY = Buffer.alloc(0);
