import { EventEmitter, once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Metrics } from '../metrics/metrics.ts';
import type { AccessDetails } from '../operations/log-details.ts';
import { isClosed, stagger, whenClosed } from '../requests/closing.ts';
import { type HttpExchange, isEventStream } from '../requests/http-exchange.ts';
import { createStallCheck } from '../requests/stalled.ts';

/** The responses in progress: those of the gateway's own HTTP server with its connections, of other servers, and of `fetch`. */
export type OpenResponses = ReturnType<typeof createOpenResponses>;

type OpenResponsesOptions = {
  readonly metrics: Pick<Metrics, 'recordResponse'>;
  /** Called after each response. */
  readonly onResponse?: ((exchange: HttpExchange, access: AccessDetails | undefined) => void) | undefined;
  /** Whether the response to a request is the last on its connection. */
  readonly isLast: (request: IncomingMessage) => boolean;
};

/** Creates the tracking of responses; there are none yet. */
export function createOpenResponses({ metrics, onResponse, isLast }: OpenResponsesOptions) {
  /** Each with a check whether its client does not read it. */
  const responses = new Map<ServerResponse, () => boolean>();
  const streams = new Set<Readable>();
  const connections = new Set<Socket>();
  const ended = new EventEmitter();
  let fetches = 0;

  function end(exchange: HttpExchange, access: AccessDetails | undefined, isStream: boolean): void {
    const { response, startedAt, endpoint } = exchange;
    const seconds = isStream ? undefined : (performance.now() - startedAt) / 1_000;
    metrics.recordResponse(endpoint, response.statusCode, seconds);
    onResponse?.(exchange, access);
  }

  function add(response: ServerResponse): void {
    // A pipelined response waits for those before it, and has no socket yet.
    const isStalled = createStallCheck(() => (response.writableLength > 0 ? response.socket : undefined));
    responses.set(response, isStalled);
  }

  /** Tracks a response until its connection has sent all of it or has closed. Then it is counted, unless its client was gone before. */
  function track(exchange: HttpExchange, access?: AccessDetails): void {
    const { response } = exchange;
    if (isClosed(response)) {
      onResponse?.(exchange, access);
      return;
    }
    add(response);
    response.on('close', () => {
      end(exchange, access, isEventStream(response));
      remove(response);
    });
  }

  function remove(response: ServerResponse): void {
    responses.delete(response);
    ended.emit('response');
  }

  const haveEnded = () => fetches === 0 && [...responses.keys()].every(isEventStream);

  return {
    isLast,
    track,
    /** Whether no tracked response or event stream is in progress. */
    isUnused: () => responses.size + streams.size + fetches === 0,
    /** Tracks a written response that is no event stream. It is counted at once if the operating system has taken all of it. */
    trackWritten(exchange: HttpExchange, access?: AccessDetails): void {
      // Most responses are short. Tracking each would take longer than creating it.
      if (exchange.response.writableLength === 0) end(exchange, access, false);
      else track(exchange, access);
    },
    /** Calls a function after each tracked response. */
    onEnd: (listener: () => void) => void ended.on('response', listener),
    /** Tracks a response of another server from the request on. @returns what ends this, if other code responds */
    trackForeign(response: ServerResponse): () => void {
      add(response);
      const untrack = () => remove(response);
      whenClosed(response, untrack);
      return untrack;
    },
    /** Tracks a response of `fetch` until it can be read. */
    async trackFetch<T>(fetching: Promise<T>): Promise<T> {
      fetches += 1;
      try {
        return await fetching;
      } finally {
        fetches -= 1;
        ended.emit('response');
      }
    },
    /** Tracks an event stream that has no HTTP response, until it is closed. */
    trackStream(stream: Readable): void {
      streams.add(stream);
      whenClosed(stream, () => streams.delete(stream));
    },
    /** Waits until all tracked responses but the event streams have ended. */
    async untilEnded(): Promise<void> {
      while (!haveEnded()) await once(ended, 'response');
    },
    addConnection(socket: Socket): void {
      connections.add(socket);
      whenClosed(socket, () => connections.delete(socket));
    },
    /** The connections that have sent nothing. Browsers open some in advance. */
    unusedConnections: () => [...connections].filter(({ bytesRead }) => bytesRead === 0),
    /** Aborts event streams, which do not end by themselves, one by one within the window. */
    abortStreams: (windowMs: number) =>
      stagger([...[...responses.keys()].filter(isEventStream), ...streams], windowMs, (stream) => stream.destroy()),
    /**
     * Starts to abort responses whose clients do not read them, within two periods after bytes began to wait. A client that reads
     * slowly is not disconnected, and neither is one whose response is not ready yet. Linux takes more bytes only when a third of its
     * buffer is free: up to 2 MB have to leave in each period.
     *
     * Server-sent events have no pong. Bytes in the buffers of the operating system count as read, until the operating system
     * closes the connection. The returned function stops it.
     */
    abortStalled(periodMs: number): () => void {
      const timer = setInterval(() => {
        for (const [response, isStalled] of responses) if (isStalled()) response.destroy();
      }, periodMs * 0.75).unref();
      return () => clearInterval(timer);
    },
  };
}
