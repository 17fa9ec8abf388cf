import type { Duplex } from 'node:stream';
import { concatTexts, toTextOrBytes } from '../../graphql/execution/json-text.ts';
import type { WrittenResult } from '../../graphql/execution/written-result.ts';
import type { Subscribe, Subscriber, Subscription } from '../../live/broadcast/broadcast.ts';
import type { EncodedUpdate } from '../operations/encoded-update.ts';
import type { ClientSocket } from './client-socket.ts';
import { sendText } from './protocol.ts';

/** What an iterator returns at its end. */
const ITERATOR_END = { done: true, value: undefined } as const;

/** `Symbol.asyncIterator` of an iterator. There can be many thousands of iterators, so they share one function. */
function returnThis<T>(this: T): T {
  return this;
}

/**
 * Sends a result when graphql-ws requests it. graphql-ws would need the data as an object, and encode it again.
 *
 * @returns an iterator that ends then, after which graphql-ws sends `complete`
 */
export function sendResult(
  result: WrittenResult,
  { socket, id }: { readonly socket: ClientSocket; readonly id: string },
): AsyncIterableIterator<never> {
  return {
    async next() {
      const start = `{"id":${JSON.stringify(id)},"type":"next","payload":`;
      await sendText(socket, toTextOrBytes(concatTexts([start, result.toJson(), '}'])));
      return ITERATOR_END;
    },
    return: () => Promise.resolve(ITERATOR_END),
    [Symbol.asyncIterator]: returnThis,
  };
}

/** Where the updates of a subscription are sent: its websocket, the TCP or TLS socket under it, and the id of the operation. */
type Receiver = { readonly socket: ClientSocket; readonly wire: Duplex; readonly id: string };

/**
 * Sends the updates of a subscription to its websocket, each when the one before was written.
 *
 * The returned iterator has no values, because graphql-ws would encode each of them again for every websocket. graphql-ws waits
 * for its end, after which it sends `complete`, and calls `return` if the client unsubscribes.
 */
export function sendUpdates(updates: Subscribe<EncodedUpdate>, receiver: Receiver): AsyncIterableIterator<never> {
  const { socket, wire, id } = receiver;
  const sender: UpdateSender = {
    socket,
    wire,
    id,
    subscription: undefined,
    end: undefined,
    onNext,
    onError,
    next,
    return: unsubscribe,
    [Symbol.asyncIterator]: returnThis,
  };
  sender.subscription = updates(sender);
  return sender;
}

/** The sender of one subscription. There can be many thousands, so they share functions, which use `this`. */
type UpdateSender = Receiver &
  Subscriber<EncodedUpdate> &
  AsyncIterableIterator<never> & {
    subscription: Subscription | undefined;
    /** What graphql-ws waits for. */
    end: PromiseWithResolvers<IteratorResult<never>> | undefined;
  };

/** Writes a complete frame to the socket under the websocket. `ws` never leaves a frame half written. */
function onNext(this: UpdateSender, update: EncodedUpdate): void {
  const { socket, wire, id, subscription } = this;
  // A websocket that is closing gets nothing more. graphql-ws calls `return` when it has closed.
  if (socket.readyState !== socket.OPEN) return;
  wire.write(update.toFrame(id));
  if (wire.writableLength === 0) subscription?.request();
  // The callback of an empty write is called when all writes before it have finished.
  else wire.write(EMPTY, () => subscription?.request());
}

function onError(this: UpdateSender, error: unknown): void {
  this.end?.reject(error);
}

function next(this: UpdateSender): Promise<IteratorResult<never>> {
  this.end = Promise.withResolvers();
  this.subscription?.request();
  return this.end.promise;
}

function unsubscribe(this: UpdateSender): Promise<IteratorResult<never>> {
  this.subscription?.cancel();
  this.end?.resolve(ITERATOR_END);
  return Promise.resolve(ITERATOR_END);
}

const EMPTY = Buffer.alloc(0);
