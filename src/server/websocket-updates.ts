import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Values } from '../live/iterate.ts';
import type { MadeUpdate } from './made-update.ts';

/** Where the updates of an operation go: its websocket, and the connection under it. */
export type Receiver = { readonly socket: WebSocket; readonly wire: Duplex; readonly id: string };

/**
 * Sends the updates of an operation to its websocket, each when the one before has left.
 *
 * What it gives to graphql-ws has no results: graphql-ws would write each of them again for every socket. It waits for the
 * end, says `complete` after it, and returns the updates where its client has had enough.
 */
export function sendUpdates(updates: Values<MadeUpdate>, { socket, wire, id }: Receiver): AsyncIterableIterator<never> {
  let onTheirWay = 0;
  let goOn: (() => void) | undefined;

  function left(): void {
    onTheirWay -= 1;
    if (onTheirWay === 0) goOn?.();
  }

  /** Writes a frame as `ws` would, which nothing of `ws` is ever in the middle of. @returns when it has left, if not yet */
  function send(frame: Buffer): Promise<void> | undefined {
    if (socket.readyState !== socket.OPEN) return undefined;
    onTheirWay += 1;
    wire.write(frame, left);
    if (wire.writableLength === 0) return undefined;
    return new Promise((resolve) => {
      goOn = resolve;
    });
  }

  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      for (;;) {
        const { done, value } = await updates.next();
        if (done) return END;
        const leaving = send(value.toFrame(id));
        if (leaving !== undefined) await leaving;
      }
    },
    async return() {
      await updates.return?.();
      return END;
    },
  };
}

const END = { done: true, value: undefined } as const;
