import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Plugin, YogaInitialContext } from 'graphql-yoga';
import { toAsyncValues } from '../../live/broadcast/async-values.ts';
import type { Subscribe } from '../../live/broadcast/subscriber.ts';
import { createEventStream, type StreamedEvent } from '../http/event-stream.ts';
import type { EncodedUpdate } from '../operations/encoded-update.ts';
import { isStream } from '../stream.ts';

/** What sending streams of events needs. */
export type UseEventStreamOptions = {
  /** The updates that the operation of a context has subscribed to, as they were written for all who get them. */
  readonly takeUpdates?: (context: object) => Subscribe<EncodedUpdate> | undefined;
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
export function useEventStream({
  takeUpdates = () => undefined,
  keepAliveMs,
  internal,
}: UseEventStreamOptions): Plugin {
  const contexts = new WeakMap<Request, object>();

  function open(request: Request, results: AsyncIterable<unknown>): Readable {
    const context = contexts.get(request);
    const updates = context && takeUpdates(context);
    if (updates === undefined) return createEventStream({ results, toEvent, keepAliveMs });
    return createEventStream({
      results: toAsyncValues(updates),
      toEvent: (update) => ({ id: update.height, data: update.toText() }),
      keepAliveMs,
    });
  }

  return {
    onSubscribe({ args: { contextValue } }) {
      const { request } = contextValue as Partial<YogaInitialContext>;
      if (request !== undefined) contexts.set(request, contextValue);
    },
    onResultProcess({ request, result, resultProcessor, setResultProcessor, serverContext }) {
      // Yoga has a processor for streams of results only where it writes events, and only if the client accepts them.
      if (!isStream(result) || resultProcessor === undefined) return;

      const events = open(request, result);
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

/** A result of a stream that is no subscription of ours. */
function toEvent(result: unknown): StreamedEvent {
  return { data: JSON.stringify(result) };
}

const EVENT_STREAM = 'text/event-stream';

/** No `connection`: the gateway says itself whether one is kept. */
const HEADERS = { 'content-type': EVENT_STREAM, 'cache-control': 'no-cache', 'content-encoding': 'none' };
