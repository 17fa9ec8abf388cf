import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket as ProtocolSocket } from 'graphql-ws';
import { WebSocket } from 'ws';

/** Maximum size of the messages that wait for a client before nothing more is read from it. */
const MAX_WAITING_BYTES = 16 * 2 ** 20;

/** How long a client may take to complete the closing handshake. */
const HANDSHAKE_MS = 1_000;

/** The websocket of a client. Its state is in fields and its listeners use `this`, because there can be many thousands. */
export class ClientSocket extends WebSocket {
  /** The same socket as graphql-ws knows it. */
  connection: Connection | undefined = undefined;
  /** The operations that are prepared or executed; `undefined` if there are none. */
  inProgress: Set<unknown> | undefined = undefined;
  /** The close code that was sent; `undefined` before that, and if the code has no frame. */
  sentCode: number | undefined = undefined;
  /** In which part of each period it is pinged. */
  part = 0;
  /** Whether it has not answered the last ping yet. */
  isUnanswered = false;

  /** Whether `close` was emitted. */
  get closed(): boolean {
    return this.readyState === this.CLOSED;
  }

  /** Starts the closing handshake, or answers that of the client with its code. */
  override close(code?: number, reason?: string | Buffer): void {
    this.sentCode ??= code;
    super.close(code, reason);
  }

  /** Pings the client, or terminates the websocket if its client has not answered the last ping. */
  pingOrTerminate(): void {
    if (this.isUnanswered) this.terminate();
    else this.ping();
    this.isUnanswered = true;
  }

  /** Notes an operation that is prepared or executed, until it settles. @returns the operation */
  track<T>(operation: Promise<T>): Promise<T> {
    this.inProgress ??= new Set();
    this.inProgress.add(operation);
    const remove = () => {
      this.inProgress?.delete(operation);
      if (this.inProgress?.size === 0) this.inProgress = undefined;
    };
    operation.then(remove, remove);
    return operation;
  }

  /**
   * Closes the websocket with 1001 when its operations in progress have been answered, and terminates it if its client does not
   * complete the closing handshake: both within about this time.
   */
  async closeGracefully(timeoutMs: number): Promise<void> {
    await Promise.race([this.untilIdle(), sleep(timeoutMs - HANDSHAKE_MS, undefined, { ref: false })]);
    if (this.closed) return;
    const timer = setTimeout(() => this.terminate(), HANDSHAKE_MS);
    this.once('close', () => clearTimeout(timer));
    this.close(1001, 'Going away');
  }

  /** Resolves when no operation is in progress. */
  async untilIdle(): Promise<void> {
    while (this.inProgress !== undefined) {
      await Promise.allSettled(this.inProgress);
      // In this turn of the event loop, the errors of operations that are refused are sent.
      await immediate();
    }
  }

  /** While a client sends operations without reading their results, nothing more is read from it: they would fill the memory. */
  pauseIfFull(): void {
    if (this.bufferedAmount > MAX_WAITING_BYTES) this.pause();
  }

  /** Reads again from a client for which few messages wait. */
  resumeIfNotFull(): void {
    if (this.isPaused && this.bufferedAmount <= MAX_WAITING_BYTES) this.resume();
  }
}

/** A socket as graphql-ws requires it, with the callbacks of graphql-ws. */
export class Connection implements ProtocolSocket {
  readonly protocol: string;
  onText: ((message: string) => Promise<void>) | undefined = undefined;
  onClosed: ((code: number, reason: string) => Promise<void>) | undefined = undefined;
  readonly #socket: ClientSocket;

  constructor(socket: ClientSocket) {
    this.#socket = socket;
    this.protocol = socket.protocol;
  }

  /** Sends a message, and resolves when it was written, so that a slow client requests no more. */
  send(text: string): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve) => {
      if (socket.readyState !== socket.OPEN) return resolve();
      socket.send(text, () => {
        socket.resumeIfNotFull();
        resolve();
      });
      socket.pauseIfFull();
    });
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  onMessage(onText: Connection['onText']): void {
    this.onText = onText;
  }
}
