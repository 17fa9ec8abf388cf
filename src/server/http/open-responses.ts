import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Metrics } from '../metrics/metrics.ts';
import type { AccessDetails } from '../operations/log-details.ts';
import { isClosed, stagger, whenClosed } from '../requests/closing.ts';
import { type HttpExchange, isEventStream } from '../requests/http-exchange.ts';

/** The responses in progress: those of the gateway's own HTTP server with its connections, of other servers, and of `fetch`. */
export type OpenResponses = {
  /** Whether no tracked response or event stream is in progress. */
  isUnused(): boolean;
  /**
   * Tracks a response until its connection has sent all of it or has closed. Then it is counted.
   *
   * @param access what the access log says about its operation
   */
  track(exchange: HttpExchange, access?: AccessDetails): void;
  /**
   * The same for a response that was written, which is no event stream. It is counted at once if the operating system has taken
   * all of it.
   */
  trackWritten(exchange: HttpExchange, access?: AccessDetails): void;
  /** Sets what is called after each tracked response. */
  onEnd(listener: () => void): void;
  /**
   * Tracks a response of another server, from the request on until its connection closes or has sent all of it.
   *
   * @returns how to end that earlier, because other code responds
   */
  trackForeign(response: ServerResponse): () => void;
  /** Tracks a response of `fetch` until it can be read. */
  trackFetch<T>(fetching: Promise<T>): Promise<T>;
  /** Tracks an event stream that has no HTTP response, until it is closed. */
  trackStream(stream: Readable): void;
  /** Waits until all tracked responses but the event streams have ended. */
  untilAnswered(): Promise<void>;
  /** Tracks a connection until it closes. */
  addConnection(socket: Socket): void;
  /** Aborts event streams, which do not end by themselves, one by one within the window. */
  abortStreams(windowMs: number): Promise<void>;
  /**
   * Starts to abort responses whose clients do not read them, within two periods after bytes began to wait. A client that reads
   * slowly is not disconnected, and neither is one whose response is not ready yet.
   *
   * Server-sent events have no pong. Bytes in the buffers of the operating system count as read, until the operating system
   * closes the connection.
   *
   * @returns how to stop it
   */
  abortStalled(periodMs: number): () => void;
  /** The connections that have sent nothing. Browsers open some in advance. */
  unusedConnections(): Socket[];
};

/** Called after each response, when it was counted. */
type OnResponse = (exchange: HttpExchange, access: AccessDetails | undefined) => void;

/** Creates the tracking of responses; there are none yet. */
export function createOpenResponses(metrics: Metrics, onResponse?: OnResponse): OpenResponses {
  const responses = new Set<ServerResponse>();
  const streams = new Set<Readable>();
  const fetches = new Set<Promise<unknown>>();
  const connections = new Set<Socket>();
  const ended = new EventEmitter();

  function end(exchange: HttpExchange, access: AccessDetails | undefined, isStream: boolean): void {
    const { response, startedAt, endpoint } = exchange;
    const seconds = isStream ? undefined : (performance.now() - startedAt) / 1_000;
    metrics.recordResponse(endpoint, response.statusCode, seconds);
    onResponse?.(exchange, access);
  }

  function track(exchange: HttpExchange, access?: AccessDetails): void {
    const { response } = exchange;
    if (isClosed(response)) {
      onResponse?.(exchange, access);
      return;
    }
    responses.add(response);
    response.on('close', () => {
      end(exchange, access, isEventStream(response));
      remove(response);
    });
  }

  function remove(response: ServerResponse): void {
    responses.delete(response);
    ended.emit('response');
  }

  const isAnswered = () => fetches.size === 0 && [...responses].every(isEventStream);

  return {
    isUnused: () => responses.size + streams.size + fetches.size === 0,
    track,
    trackWritten(exchange, access) {
      // Most responses are short. Tracking each would take longer than creating it.
      if (exchange.response.writableLength === 0) end(exchange, access, false);
      else track(exchange, access);
    },
    onEnd: (listener) => void ended.on('response', listener),
    trackForeign(response) {
      responses.add(response);
      const end = () => remove(response);
      whenClosed(response, end);
      return end;
    },
    async trackFetch(fetching) {
      fetches.add(fetching);
      try {
        return await fetching;
      } finally {
        fetches.delete(fetching);
        ended.emit('response');
      }
    },
    trackStream(stream) {
      streams.add(stream);
      whenClosed(stream, () => streams.delete(stream));
    },
    async untilAnswered() {
      while (!isAnswered()) await once(ended, 'response');
    },
    addConnection(socket) {
      connections.add(socket);
      whenClosed(socket, () => connections.delete(socket));
    },
    abortStreams: (windowMs) =>
      stagger([...[...responses].filter(isEventStream), ...streams], windowMs, (stream) => stream.destroy()),
    abortStalled(periodMs) {
      // Yoga resets the timeout of the socket before it sends, so the timeout cannot be set when a response begins.
      const timer = setInterval(() => {
        for (const response of responses)
          if (response.writableLength > 0 && response.listenerCount('timeout') === 0) watch(response, periodMs * 0.75);
      }, periodMs / 4).unref();
      return () => clearInterval(timer);
    },
    unusedConnections: () => [...connections].filter(({ bytesRead }) => bytesRead === 0),
  };
}

/** Each byte that is sent restarts the timeout of the socket, also in the middle of a large write. */
function watch(response: ServerResponse, stalledMs: number): void {
  response.setTimeout(stalledMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
