import type { WebSocket } from 'ws';
import type { Values } from '../live/iterate.ts';
import type { MadeUpdate } from './made-update.ts';
import { sendWhole } from './websocket-protocol.ts';

/**
 * Sends the updates of an operation to its socket, each when the one before has left.
 *
 * What it gives to graphql-ws has no results: graphql-ws would write each of them again for every socket. It waits for the
 * end, says `complete` after it, and returns the updates where its client has had enough.
 */
export function sendUpdates(updates: Values<MadeUpdate>, socket: WebSocket, id: string): AsyncIterableIterator<never> {
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      for await (const update of updates) await sendWhole(socket, update.toMessage(id));
      return END;
    },
    async return() {
      await updates.return?.();
      return END;
    },
  };
}

const END = { done: true, value: undefined } as const;
