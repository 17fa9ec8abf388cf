import { Readable } from 'node:stream';

/** One event of a stream: a text of one line, and the id after which a reader that comes back goes on. */
export type StreamedEvent = { readonly id?: number | undefined; readonly data: string };

/** What a stream of events is made of. */
export type EventStreamOptions<T> = {
  /** Asked for one at a time, and for none while the one before waits; returned once, when the reader goes before its end. */
  readonly results: AsyncIterable<T, unknown>;
  /** Called with each result at once, before the next is asked for. */
  readonly toEvent: (result: T) => StreamedEvent;
  /** How long a reader that waits for an event may hear nothing. */
  readonly keepAliveMs: number;
};

/**
 * Makes the bytes of GraphQL over server-sent events, in its mode of one connection for each operation: a `next` event for
 * each result, as soon as the reader has room for it, and `complete` after the last. Where the results fail, so does the
 * stream, without `complete`.
 *
 * It holds nothing itself: a stream with any room would ask for a result while an older one waits, which then ages there.
 */
export function createEventStream<T>({ results, toEvent, keepAliveMs }: EventStreamOptions<T>): Readable {
  const iterator = results[Symbol.asyncIterator]();
  let isWanted = false;
  let isAsking = false;
  let isOver = false;

  const events: Readable = new Readable({
    highWaterMark: 0,
    read() {
      isWanted = true;
      // What comes of a question under way is for this one as well: a ping has taken the place of its answer.
      if (!isAsking) ask();
    },
    destroy(error, callback) {
      clearInterval(ping);
      if (!isOver) iterator.return?.().catch(ignore);
      callback(error);
    },
  });

  async function ask(): Promise<void> {
    isAsking = true;
    try {
      const { done, value } = await iterator.next();
      isAsking = false;
      if (events.destroyed) return;
      if (!done) return write(toText(toEvent(value)));
      isOver = true;
      write(COMPLETE);
      events.push(null);
    } catch (error) {
      events.destroy(error as Error);
    }
  }

  function write(text: string): void {
    isWanted = false;
    ping.refresh();
    events.push(text);
  }

  const ping = setInterval(() => isWanted && write(PING), keepAliveMs).unref();
  // Some readers learn that they are answered only with the first byte of the body.
  write(PING);
  return events;
}

const PING = ':\n\n';
const COMPLETE = 'event: complete\ndata:\n\n';

function toText({ id, data }: StreamedEvent): string {
  return `event: next\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
}

/** How the results end does not concern a reader who has gone. */
function ignore(): void {}
