import type { Duplex } from 'node:stream';
import type { GraphQLError } from 'graphql';
import { andThen } from '../../domain/maybe-promise.ts';
import { toBytes, withoutHttp } from '../../graphql/execution/written-result.ts';
import type { Subscribe, Subscriber, Subscription } from '../../live/broadcast/broadcast.ts';
import type { EncodedResponse, EncodedUpdate } from '../operations/encoded-response.ts';
import type { WriteBatch } from '../requests/write-batch.ts';
import type { ClientSocket } from './client-socket.ts';

/** What an iterator returns at its end. */
const ITERATOR_END = { done: true, value: undefined } as const;

/** Sends the result of an operation, and that it is complete, in one write: with the next batch. */
export function sendResult({ socket, wire, id }: Receiver, { body }: EncodedResponse, batch: WriteBatch): void {
  if (socket.readyState !== socket.OPEN) return;
  wire.cork();
  socket.send(nextMessage(id, body), TEXT);
  socket.send(JSON.stringify({ id, type: 'complete' }));
  batch(() => wire.uncork());
}

/** Sends the errors of an operation that is refused. */
export function sendErrors({ socket, id }: Receiver, errors: readonly GraphQLError[]): void {
  if (socket.readyState !== socket.OPEN) return;
  socket.send(JSON.stringify({ id, type: 'error', payload: errors.map(withoutHttp) }));
}

/** A `next` message of graphql-ws with the JSON of a result. */
export function nextMessage(id: string, json: readonly (string | Buffer)[]): Buffer {
  return Buffer.concat(toBytes([`{"id":${JSON.stringify(id)},"type":"next","payload":`, ...json, '}']));
}

/** A message of bytes is sent as text. */
const TEXT = { binary: false };

/** Where the results of an operation are sent: its websocket, the TCP or TLS socket under it, and the id of the operation. */
export type Receiver = { readonly socket: ClientSocket; readonly wire: Duplex; readonly id: string };

/**
 * Sends the updates of a subscription to its websocket, each when the one before was written.
 *
 * The returned iterator has no values, because graphql-ws would encode each of them again for every websocket. graphql-ws waits
 * for its end, after which it sends `complete`, and calls `return` if the client unsubscribes.
 */
export function sendUpdates(updates: Subscribe<EncodedUpdate>, receiver: Receiver): AsyncIterableIterator<never> {
  const sender = new UpdateSender(receiver);
  sender.subscription = updates(sender);
  return sender;
}

/** The sender of one subscription. There can be many thousands. */
class UpdateSender implements Subscriber<EncodedUpdate>, AsyncIterableIterator<never> {
  subscription: Subscription | undefined = undefined;
  readonly #receiver: Receiver;
  /** What graphql-ws waits for. */
  #end: PromiseWithResolvers<IteratorResult<never>> | undefined = undefined;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  onNext(update: EncodedUpdate): void {
    const { socket, wire, id } = this.#receiver;
    // A websocket that is closing gets nothing more. graphql-ws calls `return` when it has closed.
    if (socket.readyState !== socket.OPEN) return;
    socket.send(update.encoded(id, nextMessage), TEXT);
    andThen(socket.untilWritten(wire), () => this.subscription?.request());
  }

  onError(error: unknown): void {
    this.#end?.reject(error);
  }

  next(): Promise<IteratorResult<never>> {
    this.#end = Promise.withResolvers();
    this.subscription?.request();
    return this.#end.promise;
  }

  return(): Promise<IteratorResult<never>> {
    this.subscription?.cancel();
    this.#end?.resolve(ITERATOR_END);
    return Promise.resolve(ITERATOR_END);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
