import type { Plugin } from 'graphql-yoga';

/**
 * Ends a subscription whose reader has gone.
 *
 * Yoga cancels the stream of events when its reader goes. A reader who goes earlier, while the first reading is under way,
 * would leave a listener behind for ever, because there is no stream yet that could be cancelled.
 */
export function useDepartures(): Plugin {
  return {
    onSubscribe: ({ args }) => ({
      onSubscribeResult({ result }) {
        // Operations on websockets have no request of their own: graphql-ws ends them.
        const request: Request | undefined = args.contextValue.request;
        if (request === undefined || !(Symbol.asyncIterator in result)) return;

        const end = () => void result.return?.(undefined);
        if (request.signal.aborted) end();
        else request.signal.addEventListener('abort', end, { once: true });
      },
    }),
  };
}
