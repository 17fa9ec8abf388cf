import type { FormattedExecutionResult, Sink, SubscribePayload } from 'graphql-ws';
import { retryDelayMs } from './back-off.ts';
import { type Refusal, readEventStream } from './read-event-stream.ts';
import type { Subscribe } from './transports.ts';

/** Subscriptions over server-sent events, for a page that cannot open a websocket. */
type EventStreams = {
  /** Starts a subscription. A stream that breaks is opened again. */
  readonly subscribe: Subscribe;
  dispose(): void;
};

type EventStreamsOptions = {
  readonly url: string;
  /** Called with each response that begins. */
  readonly onOpen: () => void;
  /** A stream has broken, and could not be opened again. */
  readonly onLost: () => void;
  readonly random?: () => number;
};

type Stream = {
  readonly payload: SubscribePayload;
  readonly sink: Sink<FormattedExecutionResult>;
  /** How often it has broken since its last update. */
  failures: number;
};

/** Over HTTP/1.1, a browser opens six connections to a server, for all of its tabs. Queries need some of them. */
const MAX_STREAMS = 3;

/** How long a stream stays open while another one waits for its turn. */
const TURN_MS = 2_000;

/** The gateway sends a comment every 12 seconds, unless its operator has set another interval. */
const SILENT_FOR_MS = 30_000;

/**
 * Creates the event streams. Each subscription has its own. Over HTTP/1.1, only a few are open at once and the subscriptions take
 * turns: each stream begins with the current value, or after the last height if its document has `$afterHeight`. Nothing is open
 * while the page is in the background.
 */
export function createEventStreams({ url, onOpen, onLost, random = Math.random }: EventStreamsOptions): EventStreams {
  /** The streams that are open, the oldest first, with the functions that close them. */
  const open = new Map<Stream, () => void>();
  let waiting: readonly Stream[] = [];
  const mostOpen = isMultiplexed() ? Number.POSITIVE_INFINITY : MAX_STREAMS;

  function openWaiting(): void {
    while (waiting.length > 0 && open.size < mostOpen && !document.hidden) {
      const [next, ...others] = waiting as readonly [Stream, ...Stream[]];
      waiting = others;
      start(next);
    }
  }

  function start(stream: Stream): void {
    const abort = new AbortController();
    const timer = setTimeout(read, stream.failures === 0 ? 0 : retryDelayMs(stream.failures - 1, random));
    let silence: ReturnType<typeof setTimeout> | undefined;
    open.set(stream, stop);

    function stop(): void {
      clearTimeout(timer);
      clearTimeout(silence);
      abort.abort();
    }

    function awaitBytes(): void {
      clearTimeout(silence);
      silence = setTimeout(() => abort.abort(), SILENT_FOR_MS);
    }

    async function read(): Promise<void> {
      awaitBytes();
      const outcome = await readEventStream(url, stream.payload, {
        signal: abort.signal,
        onOpen,
        onBytes: awaitBytes,
        onUpdate(update) {
          stream.failures = 0;
          stream.sink.next(update);
        },
      }).catch(() => 'failed' as const);
      // What the page has closed has neither ended nor failed.
      if (open.get(stream) !== stop) return;
      close(stream);
      if (outcome === 'failed') fail(stream);
      else end(stream, outcome);
    }
  }

  function close(stream: Stream): void {
    open.get(stream)?.();
    open.delete(stream);
  }

  function end({ sink }: Stream, refusal: Refusal | undefined): void {
    if (refusal === undefined) sink.complete();
    else sink.error(refusal);
    openWaiting();
  }

  function fail(stream: Stream): void {
    stream.failures += 1;
    waiting = [stream, ...waiting];
    if (stream.failures > 1) onLost();
    openWaiting();
  }

  /** Closes a stream until it is its turn again. */
  function pause(stream: Stream): void {
    close(stream);
    waiting = [...waiting, stream];
  }

  const turns = setInterval(() => {
    const [oldest] = open.keys();
    if (waiting.length === 0 || oldest === undefined) return;
    pause(oldest);
    openWaiting();
  }, TURN_MS);

  function onVisibility(): void {
    if (document.hidden) for (const stream of [...open.keys()]) pause(stream);
    else openWaiting();
  }
  document.addEventListener('visibilitychange', onVisibility);

  return {
    subscribe(payload, sink) {
      const stream: Stream = { payload, sink, failures: 0 };
      waiting = [...waiting, stream];
      openWaiting();
      return () => {
        close(stream);
        waiting = waiting.filter((other) => other !== stream);
        openWaiting();
      };
    },
    dispose() {
      clearInterval(turns);
      document.removeEventListener('visibilitychange', onVisibility);
      waiting = [];
      for (const stream of [...open.keys()]) close(stream);
    },
  };
}

/** Whether the page was loaded over HTTP/2 or HTTP/3, which have no limit of connections that matters here. */
function isMultiplexed(): boolean {
  const [page] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return /^h[23]/.test(page?.nextHopProtocol ?? '');
}
