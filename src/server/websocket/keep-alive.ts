import type { WebSocket } from 'ws';

/** Ends sockets whose peers no longer answer. */
export type KeepAlive = {
  /** Asks the peer of a socket once in each period whether it is there. */
  watch(socket: WebSocket): void;
  /** Asks no more: the socket has closed. */
  leave(socket: WebSocket): void;
};

/** Peers are asked in so many parts, so that not all of thousands are asked at once. */
const PARTS = 16;

/** Makes what asks: one timer for all sockets, since each timer of its own would take as much memory as a subscription. */
export function createKeepAlive(periodMs: number): KeepAlive {
  const parts = Array.from({ length: PARTS }, () => new Set<WebSocket>());
  /** Those who were asked and have not answered yet. */
  const silent = new Set<WebSocket>();
  let asked = 0;
  let watched = 0;
  let timer: NodeJS.Timeout | undefined;

  function askSome(): void {
    asked = (asked + 1) % PARTS;
    for (const socket of parts[asked] ?? []) {
      if (silent.has(socket)) {
        socket.terminate();
      } else {
        silent.add(socket);
        socket.ping();
      }
    }
  }

  // One function for all sockets: they are told apart by what it is called on.
  function heard(this: WebSocket): void {
    silent.delete(this);
  }

  return {
    watch(socket) {
      if (watched === 0) timer = setInterval(askSome, periodMs / PARTS);
      watched += 1;
      parts[asked]?.add(socket);
      socket.on('pong', heard);
    },
    leave(socket) {
      silent.delete(socket);
      for (const part of parts) part.delete(socket);
      watched -= 1;
      if (watched === 0) clearInterval(timer);
    },
  };
}
