import type { IncomingMessage } from 'node:http';
import type { Log } from '../logging/log.ts';
import type { ClientAddresses, ClientIdentity } from './clients/client-address.ts';
import type { AccessDetails } from './operations/log-details.ts';
import { type HttpExchange, isEventStream, pathOf } from './requests/http-exchange.ts';

/** The modes of the access log. */
export const ACCESS_LOG_MODES = ['off', 'errors', 'all'] as const;

/** Which requests and operations have a line in the log. */
export type AccessLogMode = (typeof ACCESS_LOG_MODES)[number];

/** What is logged of websockets beside their opening and closing: operations, and websockets that are refused. */
type AccessEvent = AccessDetails & {
  readonly message: string;
  readonly requestId: string;
  readonly identity: ClientIdentity;
  readonly facts?: object;
};

/**
 * Writes a line for each request and operation, or only for refused operations and internal errors. A line never contains the
 * text of a query, its variables or the parameters of a URL.
 */
export type AccessLog = ReturnType<typeof createAccessLog>;

type AccessLogOptions = {
  readonly mode: AccessLogMode;
  readonly log: Log;
  readonly clients: ClientAddresses;
};

/** Creates the access log. It reads the mode and the log level once, so that it costs nothing when it is off. */
export function createAccessLog({ mode, log, clients }: AccessLogOptions) {
  const isOn = mode !== 'off' && log.isLevelEnabled('info');
  const isAll = isOn && mode === 'all';
  const isTraced = log.isLevelEnabled('trace');
  const mayWrite = isAll ? () => true : createLineLimit(log);

  function noteRequest(request: IncomingMessage, requestId: string): number {
    // A closed socket no longer has an address: this stores it while the socket is open.
    const client = clients.of(request);
    if (isTraced) log.trace({ requestId, client, ...routeOf(request) }, 'request received');
    return request.socket.bytesWritten;
  }

  function onResponse(exchange: HttpExchange, access: AccessDetails | undefined): void {
    if (!(isAll || isNotable(exchange, access)) || !mayWrite()) return;
    const { request, response, id: requestId, startedAt, sentBefore } = exchange;
    const line = {
      requestId,
      client: clients.of(request),
      ...routeOf(request),
      ...toFields(access),
      ...(response.headersSent && { status: response.statusCode }),
      ...(response.destroyed && !response.writableFinished && { aborted: true }),
      ...(sentBefore !== undefined && { bytes: request.socket.bytesWritten - sentBefore }),
      ms: msSince(startedAt),
    };
    log.info(line, isEventStream(response) ? 'event stream ended' : 'request');
  }

  function onEvent(event: AccessEvent): void {
    if (!(isAll || event.errors?.isNotable) || !mayWrite()) return;
    const { requestId, identity, facts, message } = event;
    log.info({ requestId, client: clients.of(identity), ...toFields(event), ...facts }, message);
  }

  return {
    /** Whether every request and operation is logged. */
    isAll,
    /** Called with each request before it is handled. Returns the bytes that its connection has sent. `undefined` if no line needs them. */
    noteRequest: isAll || isTraced ? noteRequest : undefined,
    /** Called with each request when its response has ended; `undefined` if no request is logged. */
    onResponse: isOn ? onResponse : undefined,
    /** Called with each operation of a websocket, and each refused websocket; `undefined` if none is logged. */
    onEvent: isOn ? onEvent : undefined,
  };
}

/** Milliseconds since a time of `performance.now()`, rounded to a tenth. */
export function msSince(startedAt: number): number {
  return Math.round((performance.now() - startedAt) * 10) / 10;
}

/** Whether the operation of a request was refused or failed with an internal error. */
function isNotable({ response, endpoint }: HttpExchange, access: AccessDetails | undefined): boolean {
  return access?.errors?.isNotable || (response.statusCode >= 400 && endpoint === 'graphql');
}

/** Maximum length of a logged path. In the explorer, that of a pool of V3 is as long. */
const MAX_PATH_LENGTH = 200;

function routeOf(request: IncomingMessage): object {
  return { method: request.method, path: pathOf(request).slice(0, MAX_PATH_LENGTH) };
}

function toFields({ label, errors, from, height, cost }: AccessDetails = {}): object {
  return {
    ...label,
    ...(errors && { codes: errors.codes }),
    ...(errors?.message !== undefined && { error: errors.message }),
    ...(from && { from }),
    ...(height !== undefined && { height }),
    // An operation that cannot be planned has no cost.
    ...(cost && { cost }),
  };
}

const WINDOW_MS = 10_000;
const LINES_PER_WINDOW = 100;

/** Limits the lines about refused operations: otherwise a hostile client could fill the disk with them. */
function createLineLimit(log: Log): () => boolean {
  let startedAt = Number.NEGATIVE_INFINITY;
  let lines = 0;

  return () => {
    if (performance.now() - startedAt > WINDOW_MS) {
      const skipped = lines - LINES_PER_WINDOW;
      if (skipped > 0) log.info({ skipped }, 'the access log skipped lines');
      startedAt = performance.now();
      lines = 0;
    }
    lines += 1;
    return lines <= LINES_PER_WINDOW;
  };
}
