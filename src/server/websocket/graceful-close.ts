import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';

/** How the sockets of a gateway that stops are closed: none before what was asked on it is answered. */
export type GracefulClose = {
  /** Notes that an answer is being made for a socket. @returns the answer */
  track<T>(socket: WebSocket, answer: T): T;
  /**
   * Closes a socket with 1001 once what was asked on it is answered, and tears it down where its peer does not answer that:
   * both within about this time.
   */
  goAway(socket: WebSocket, timeoutMs: number): Promise<void>;
};

/** How long a peer may take to close its side before the socket is torn down. */
const CLOSING_MS = 1_000;

/** Makes a {@link GracefulClose} that knows of no answer yet. */
export function createGracefulClose(): GracefulClose {
  const underWay = new WeakMap<WebSocket, Set<unknown>>();

  async function untilAnswered(socket: WebSocket): Promise<void> {
    for (let answers = underWay.get(socket); answers !== undefined; answers = underWay.get(socket)) {
      await Promise.allSettled(answers);
      // What was made is sent, and what was prepared is begun, before the process turns to anything else.
      await immediate();
    }
  }

  return {
    track(socket, answer) {
      const answers = underWay.get(socket) ?? new Set();
      underWay.set(socket, answers.add(answer));
      const forget = () => {
        answers.delete(answer);
        if (answers.size === 0) underWay.delete(socket);
      };
      Promise.resolve(answer).then(forget, forget);
      return answer;
    },
    async goAway(socket, timeoutMs) {
      await Promise.race([untilAnswered(socket), sleep(timeoutMs - CLOSING_MS, undefined, { ref: false })]);
      if (socket.readyState === socket.CLOSED) return;
      const timer = setTimeout(() => socket.terminate(), CLOSING_MS);
      socket.once('close', () => clearTimeout(timer));
      socket.close(1001, 'Going away');
    },
  };
}
