import type { WebSocket } from 'ws';
import type { WrittenResult } from '../../graphql/execution/written-result.ts';
import { ITERATOR_END, returnThis } from '../../live/broadcast/async-values.ts';
import { sendText } from './protocol.ts';

/**
 * Sends the result of a query when graphql-ws asks for it: graphql-ws would read the data of a result, and write it once more.
 *
 * @returns what graphql-ws gets of it: the end, after which it sends `complete`
 */
export function sendResult(
  result: WrittenResult,
  { socket, id }: { readonly socket: WebSocket; readonly id: string },
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
