import type { WebSocket } from 'ws';

/** Terminates websockets whose clients no longer answer pings. */
type KeepAlive = {
  /** Pings a websocket once in each period. */
  add(socket: WebSocket): void;
  /** Removes a websocket that has closed. */
  remove(socket: WebSocket): void;
};

/** Each group is pinged at another time of the period, so that thousands of pings are not sent at once. */
const GROUPS = 16;

/** Creates the keep-alive. One timer serves all websockets: a timer for each would take as much memory as a subscription. */
export function createKeepAlive(periodMs: number): KeepAlive {
  const groups = Array.from({ length: GROUPS }, () => new Set<WebSocket>());
  /** Those that have not answered the last ping yet. */
  const unanswered = new Set<WebSocket>();
  let current = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;

  function pingNextGroup(): void {
    current = (current + 1) % GROUPS;
    for (const socket of groups[current] ?? []) {
      if (unanswered.has(socket)) {
        socket.terminate();
      } else {
        unanswered.add(socket);
        socket.ping();
      }
    }
  }

  // One function for all websockets, which finds its websocket in `this`.
  function onPong(this: WebSocket): void {
    unanswered.delete(this);
  }

  return {
    add(socket) {
      if (count === 0) timer = setInterval(pingNextGroup, periodMs / GROUPS);
      count += 1;
      groups[current]?.add(socket);
      socket.on('pong', onPong);
    },
    remove(socket) {
      unanswered.delete(socket);
      for (const group of groups) group.delete(socket);
      count -= 1;
      if (count === 0) clearInterval(timer);
    },
  };
}
