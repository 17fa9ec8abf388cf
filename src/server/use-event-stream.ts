import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import type { Context } from '../graphql/context.ts';
import { createEventStream } from './event-stream.ts';
import { withoutHttp } from './refusal.ts';
import { isStream } from './stream.ts';

/** What sending streams of events needs. */
export type UseEventStreamOptions = {
  /** How often a reader hears something at the least. */
  readonly keepAliveMs: number;
  /** Told of errors of ours that break a stream off. */
  readonly internal: (error: unknown) => void;
};

/**
 * Sends subscriptions as server-sent events, in the place of Yoga, whose stream makes updates ahead of a slow reader.
 *
 * Each update of prices has its height as the event's id, so that a reader that comes back goes on after it.
 */
export function useEventStream({ keepAliveMs, internal }: UseEventStreamOptions): Plugin<Context> {
  const updatesOf = new WeakMap<Request, Context['updates']>();

  return {
    onSubscribe({ args: { contextValue } }) {
      const { request, updates } = contextValue as Partial<YogaInitialContext> & Context;
      if (request !== undefined) updatesOf.set(request, updates);
    },
    onResultProcess({ request, result, resultProcessor, setResultProcessor, serverContext }) {
      // Yoga has a processor for streams of results only where it writes events, and only if the client accepts them.
      if (!isStream(result) || resultProcessor === undefined) return;

      const updates = updatesOf.get(request);
      const events = createEventStream({
        results: result as AsyncIterable<ExecutionResult>,
        // Asked for one by one: the newest height is the one that this result was made of.
        toEvent: (update) => ({ id: updates?.newestPriceHeight(), data: JSON.stringify(toSent(update)) }),
        keepAliveMs,
      });
      const { res: answer } = serverContext as { readonly res?: ServerResponse };
      events.once('error', (error) => {
        internal(error);
        answer?.destroy();
      });
      const leave = () => events.destroy();
      if (request.signal.aborted) leave();
      else request.signal.addEventListener('abort', leave, { once: true });
      // Yoga's Response pipes a Readable as it is, though its type knows web streams only.
      const body = events as unknown as ReadableStream;
      setResultProcessor((_result, { Response }) => new Response(body, { headers: HEADERS }), EVENT_STREAM);
    },
  };
}

const EVENT_STREAM = 'text/event-stream';

/** No `connection`: the gateway says itself whether one is kept. */
const HEADERS = { 'content-type': EVENT_STREAM, 'cache-control': 'no-cache', 'content-encoding': 'none' };

function toSent(result: ExecutionResult): object {
  return result.errors === undefined ? result : { ...result, errors: result.errors.map(withoutHttp) };
}
