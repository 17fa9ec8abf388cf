import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Subscribe, Subscription } from '../../live/broadcast/broadcast.ts';
import { whenClosed } from './closing.ts';

/** The headers of an event stream. The HTTP server decides whether the connection stays open. */
export const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  // A proxy that compressed it would hold events back until it has some kilobytes.
  'cache-control': 'no-cache, no-transform',
  // nginx would hold them back too, unless its configuration says otherwise.
  'x-accel-buffering': 'no',
} as const;

/** An update of a subscription: its JSON on one line, and the height after which a reader resumes. */
type Update = { readonly height: number | undefined; toText(): string };

/** What event streams need. */
export type EventStreamOptions = {
  /** How often a reader that waits for an event receives a comment. */
  readonly keepAliveMs: number;
  /** Called with the error of a subscription. */
  readonly internal: (error: unknown) => void;
};

/**
 * Creates an event stream of GraphQL over server-sent events, in "distinct connections" mode: one `next` event for each update,
 * whose id is the height after which a reader resumes. An error of the subscription destroys the stream.
 *
 * It ends with the response that it is written to. It buffers nothing: it requests an update when the reader has room for it,
 * because an update that waits would become old.
 *
 * @param response the response, if it has one that Node sends: an error of the subscription aborts it too
 */
export function createEventStream(
  updates: Subscribe<Update>,
  { keepAliveMs, internal }: EventStreamOptions,
  response?: ServerResponse,
): Readable {
  let subscription: Subscription | undefined;
  let hasRoom = false;
  let isRequested = false;
  const ping = setInterval(() => hasRoom && write(COMMENT), keepAliveMs).unref();

  const events: Readable = new Readable({
    highWaterMark: 0,
    read() {
      hasRoom = true;
      // After a comment, the update that was requested before it is still to come.
      if (isRequested) return;
      isRequested = true;
      subscription ??= updates({
        onNext(update) {
          isRequested = false;
          write(toEvent(update.toText(), update.height));
        },
        onError: (error) => events.destroy(error as Error),
      });
      subscription.request();
    },
    destroy(error, callback) {
      clearInterval(ping);
      subscription?.cancel();
      callback(error);
    },
  });

  function write(text: string): void {
    hasRoom = false;
    ping.refresh();
    events.push(text);
  }

  // Some clients see the response only when the first byte of its body arrives.
  write(COMMENT);
  events.once('error', (error) => {
    internal(error);
    response?.destroy();
  });
  if (response !== undefined) whenClosed(response, () => events.destroy());
  return events;
}

/** The whole event stream of a result that no other follows. */
export function toEventStream(result: string): string {
  return `${COMMENT}${toEvent(result)}event: complete\ndata:\n\n`;
}

const COMMENT = ':\n\n';

function toEvent(data: string, id?: number): string {
  return `event: next\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}
