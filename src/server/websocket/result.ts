import type { WrittenResult } from '../../graphql/execution/written-result.ts';
import { ITERATOR_END, returnThis } from '../../live/broadcast/async-values.ts';
import type { ClientSocket } from './client-socket.ts';
import { sendText } from './protocol.ts';

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
      await sendText(socket, `{"id":${JSON.stringify(id)},"type":"next","payload":${result.toText()}}`);
      return ITERATOR_END;
    },
    return: () => Promise.resolve(ITERATOR_END),
    [Symbol.asyncIterator]: returnThis,
  };
}
