import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { EndpointMetrics, ResponseSource } from '../metrics/metrics.ts';
import type { Account } from '../operations/account.ts';
import type { ErrorSummary } from '../operations/error-summary.ts';
import type { OperationLabel } from '../operations/operation-label.ts';
import type { Prepared } from '../operations/pipeline.ts';
import { stagger } from '../stagger.ts';

/** What a line of the access log says about the operation of a request. */
export type AccessDetails = {
  readonly label?: OperationLabel;
  readonly errors?: ErrorSummary | undefined;
  readonly from?: ResponseSource;
};

/** A request, and the answer that is made to it. */
export type HttpExchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The id of the request. */
  readonly id: string;
  /** When its head had come, on the clock of `performance`. */
  readonly begun: number;
  /** Who counts it when it is over. */
  readonly counts: EndpointMetrics;
  /** What the access log is to say of its operation. */
  access?: AccessDetails | undefined;
  /** The account of its first operation, until that takes it. */
  account?: Account | undefined;
  /** Its operation, if it was prepared already. */
  prepared?: Prepared | undefined;
};

/** The answers that are under way on an HTTP server, and the connections that they go out on. */
export type OpenResponses = {
  readonly all: ReadonlySet<ServerResponse>;
  /** Follows an answer until all of it has gone, or never will; then counts it. */
  follow(exchange: HttpExchange): void;
  /** The same for an answer that is written: one that the system has taken whole is over, and only counted. */
  written(exchange: HttpExchange): void;
  /** Called each time that an answer which was followed is over. */
  onOver(listener: () => void): void;
  /** Counts a connection, for as long as it is there. */
  connected(socket: Socket): void;
  /** Tells the clients of answers that have not begun to send nothing more on their connections. */
  closeAfterResponse(): void;
  /** Breaks off those that would never end by themselves, streams of events, spread over a time. */
  abortStreams(windowMs: number): Promise<void>;
  /** The connections on which nothing was ever asked: browsers open some in advance. */
  silent(): Socket[];
};

/**
 * Makes what keeps track of the answers of a server.
 *
 * @param answered called when an answer is over, after it is counted
 */
export function createOpenResponses(answered?: (exchange: HttpExchange) => void): OpenResponses {
  function end(exchange: HttpExchange): void {
    count(exchange);
    answered?.(exchange);
  }

  const answers = new Set<ServerResponse>();
  const connections = new Set<Socket>();
  let tellOver = () => {};

  function follow(exchange: HttpExchange): void {
    const { response } = exchange;
    // Its client has left: nothing would ever say so again.
    if (response.destroyed) {
      answered?.(exchange);
      return;
    }
    answers.add(response);
    response.on('close', () => {
      answers.delete(response);
      end(exchange);
      tellOver();
    });
  }

  return {
    all: answers,
    follow,
    written(exchange) {
      // Most are short: to follow each would take longer than to make it.
      if (exchange.response.writableLength === 0) end(exchange);
      else follow(exchange);
    },
    onOver(listener) {
      tellOver = listener;
    },
    connected(socket) {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
    },
    closeAfterResponse() {
      for (const answer of answers) {
        if (!answer.headersSent) answer.setHeader('connection', 'close');
      }
    },
    abortStreams: (windowMs) => stagger([...answers].filter(isEventStream), windowMs, (answer) => answer.destroy()),
    silent: () => [...connections].filter(({ bytesRead }) => bytesRead === 0),
  };
}

function count({ response, begun, counts }: HttpExchange): void {
  counts.recordResponse(response.statusCode, isEventStream(response) ? undefined : (performance.now() - begun) / 1_000);
}

/** Whether an answer is a stream of events, which ends only when its reader goes. */
export function isEventStream(answer: ServerResponse): boolean {
  return String(answer.getHeader('content-type')).startsWith('text/event-stream');
}
