import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { ITERATOR_END, returnThis } from '../../live/broadcast/async-values.ts';
import type { Subscribe, Subscriber, Subscription } from '../../live/broadcast/broadcast.ts';
import type { EncodedUpdate } from '../operations/encoded-update.ts';

/** Where the updates of an operation go: its websocket, and the connection under it. */
export type Receiver = { readonly socket: WebSocket; readonly wire: Duplex; readonly id: string };

/**
 * Sends the updates of an operation to its websocket, each when the one before has left.
 *
 * What it gives to graphql-ws has no results: graphql-ws would write each of them again for every socket. It waits for the
 * end, says `complete` after it, and returns this where its client has had enough.
 */
export function sendUpdates(updates: Subscribe<EncodedUpdate>, receiver: Receiver): AsyncIterableIterator<never> {
  const { socket, wire, id } = receiver;
  const sending: Sending = {
    socket,
    wire,
    id,
    updates: undefined,
    over: undefined,
    onNext,
    onError,
    next,
    return: leave,
    [Symbol.asyncIterator]: returnThis,
  };
  sending.updates = updates(sending);
  return sending;
}

/** One operation of the many thousands that there can be: its functions are those of all, told apart by `this`. */
type Sending = Receiver &
  Subscriber<EncodedUpdate> &
  AsyncIterableIterator<never> & {
    updates: Subscription | undefined;
    /** What graphql-ws waits for: it has asked for the first result, and gets the end. */
    over: PromiseWithResolvers<IteratorResult<never>> | undefined;
  };

/** Writes a frame as `ws` would, which nothing of `ws` is ever in the middle of. */
function onNext(this: Sending, update: EncodedUpdate): void {
  const { socket, wire, id, updates } = this;
  // Of one that closes nothing more is wanted; graphql-ws is told when it has.
  if (socket.readyState !== socket.OPEN) return;
  wire.write(update.toFrame(id));
  if (wire.writableLength === 0) updates?.request();
  // What has nothing in it leaves behind all that was written before it.
  else wire.write(NOTHING, () => updates?.request());
}

function onError(this: Sending, error: unknown): void {
  this.over?.reject(error);
}

function next(this: Sending): Promise<IteratorResult<never>> {
  this.over = Promise.withResolvers();
  this.updates?.request();
  return this.over.promise;
}

function leave(this: Sending): Promise<IteratorResult<never>> {
  this.updates?.cancel();
  this.over?.resolve(ITERATOR_END);
  return Promise.resolve(ITERATOR_END);
}

const NOTHING = Buffer.alloc(0);
