import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { END, itself } from '../../live/iterate.ts';
import type { Listen, Listener, Listening } from '../../live/listen.ts';
import type { MadeUpdate } from '../updates/made-update.ts';

/** Where the updates of an operation go: its websocket, and the connection under it. */
export type Receiver = { readonly socket: WebSocket; readonly wire: Duplex; readonly id: string };

/**
 * Sends the updates of an operation to its websocket, each when the one before has left.
 *
 * What it gives to graphql-ws has no results: graphql-ws would write each of them again for every socket. It waits for the
 * end, says `complete` after it, and returns this where its client has had enough.
 */
export function sendUpdates(updates: Listen<MadeUpdate>, receiver: Receiver): AsyncIterableIterator<never> {
  const { socket, wire, id } = receiver;
  const sending: Sending = {
    socket,
    wire,
    id,
    updates: undefined,
    over: undefined,
    hear,
    fail,
    next,
    return: leave,
    [Symbol.asyncIterator]: itself,
  };
  sending.updates = updates(sending);
  return sending;
}

/** One operation of the many thousands that there can be: its functions are those of all, told apart by `this`. */
type Sending = Receiver &
  Listener<MadeUpdate> &
  AsyncIterableIterator<never> & {
    updates: Listening | undefined;
    /** What graphql-ws waits for: it has asked for the first result, and gets the end. */
    over: PromiseWithResolvers<IteratorResult<never>> | undefined;
  };

/** Writes a frame as `ws` would, which nothing of `ws` is ever in the middle of. */
function hear(this: Sending, update: MadeUpdate): void {
  const { socket, wire, id, updates } = this;
  // Of one that closes nothing more is wanted; graphql-ws is told when it has.
  if (socket.readyState !== socket.OPEN) return;
  wire.write(update.toFrame(id));
  if (wire.writableLength === 0) updates?.next();
  // What has nothing in it leaves behind all that was written before it.
  else wire.write(NOTHING, () => updates?.next());
}

function fail(this: Sending, error: unknown): void {
  this.over?.reject(error);
}

function next(this: Sending): Promise<IteratorResult<never>> {
  this.over = Promise.withResolvers();
  this.updates?.next();
  return this.over.promise;
}

function leave(this: Sending): Promise<IteratorResult<never>> {
  this.updates?.end();
  this.over?.resolve(END);
  return Promise.resolve(END);
}

const NOTHING = Buffer.alloc(0);
