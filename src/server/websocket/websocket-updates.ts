import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { itself, type Values } from '../../live/iterate.ts';
import type { MadeUpdate } from '../updates/made-update.ts';

/** Where the updates of an operation go: its websocket, and the connection under it. */
export type Receiver = { readonly socket: WebSocket; readonly wire: Duplex; readonly id: string };

/**
 * Sends the updates of an operation to its websocket, each when the one before has left.
 *
 * What it gives to graphql-ws has no results: graphql-ws would write each of them again for every socket. It waits for the
 * end, says `complete` after it, and returns the updates where its client has had enough.
 */
export function sendUpdates(updates: Values<MadeUpdate>, receiver: Receiver): AsyncIterableIterator<never> {
  const outbox: Outbox = { ...receiver, waiting: 0, whenEmpty: undefined };

  function left(): void {
    outbox.waiting -= 1;
    if (outbox.waiting === 0) outbox.whenEmpty?.();
  }

  return {
    [Symbol.asyncIterator]: itself,
    async next() {
      for (;;) {
        const { done, value } = await updates.next();
        if (done) return END;
        const leaving = send(outbox, value, left);
        if (leaving !== undefined) await leaving;
      }
    },
    async return() {
      await updates.return?.();
      return END;
    },
  };
}

/** What is on its way to a receiver: frames that were written and have not left. */
type Outbox = Receiver & { waiting: number; whenEmpty: (() => void) | undefined };

/** Writes a frame as `ws` would, which nothing of `ws` is ever in the middle of. @returns when it has left, if not yet */
function send(outbox: Outbox, update: MadeUpdate, left: () => void): Promise<void> | undefined {
  const { socket, wire, id } = outbox;
  if (socket.readyState !== socket.OPEN) return undefined;
  outbox.waiting += 1;
  wire.write(update.toFrame(id), left);
  if (wire.writableLength === 0) return undefined;
  return new Promise((resolve) => {
    outbox.whenEmpty = resolve;
  });
}

const END = { done: true, value: undefined } as const;
