import type { IncomingMessage, ServerResponse } from 'node:http';

/** An HTTP request with its response. */
export type HttpExchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The request id. */
  readonly id: string;
  /** When the head of the request had been received, in `performance.now()`. */
  readonly startedAt: number;
  /** The name of the endpoint in the metrics. */
  readonly endpoint: string;
  /** The bytes that its connection had sent before, for the access log. */
  readonly sentBefore: number | undefined;
};

/** Whether a response is an event stream, which ends only when its client disconnects. */
export function isEventStream(response: ServerResponse): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream');
}
