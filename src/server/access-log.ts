import type { IncomingMessage } from 'node:http';
import type { Log } from '../log.ts';
import type { Caller, ClientAddresses } from './clients/client-address.ts';
import { type HttpExchange, isEventStream } from './http/open-responses.ts';
import type { ResponseSource } from './metrics/metrics.ts';
import type { ErrorSummary } from './operations/error-summary.ts';
import type { OperationLabel } from './operations/operation-label.ts';

/** The modes of the access log. */
export const ACCESS_LOG_MODES = ['off', 'errors', 'all'] as const;

/** Which requests and operations have a line in the log. */
export type AccessLogMode = (typeof ACCESS_LOG_MODES)[number];

/** What the access log says of the operation of a request. */
export type AccessNote = {
  readonly label?: OperationLabel;
  readonly errors?: ErrorSummary | undefined;
  /** Where the answer to a plain query comes from. */
  readonly from?: ResponseSource;
};

/** Something other than an HTTP request that has a line: an operation on a websocket, or a websocket that is refused. */
export type AccessEvent = AccessNote & {
  readonly message: string;
  readonly requestId: string;
  readonly caller: Caller;
  readonly facts?: object;
};

/**
 * Writes a line for each request and operation, or only for those that were refused or failed in the gateway itself. A line
 * never holds the text of a query, its variables or the parameters of a URL.
 */
export type AccessLog = {
  /** Whether each request has a line, so that each needs a note. */
  readonly isAll: boolean;
  /** Called with each request before it is handled; `undefined` where there is nothing to do. */
  readonly received: ((exchange: HttpExchange) => void) | undefined;
  /** Called with each request when its answer is over; `undefined` where no request has a line. */
  readonly answered: ((exchange: HttpExchange) => void) | undefined;
  /** Called with everything else; `undefined` as above. */
  readonly happened: ((event: AccessEvent) => void) | undefined;
};

/** What the access log is made of. */
export type AccessLogOptions = {
  readonly mode: AccessLogMode;
  readonly log: Log;
  readonly clients: ClientAddresses;
};

/** Creates the access log. It reads its mode and the level of the log once, so that a mode that is off costs nothing. */
export function createAccessLog({ mode, log, clients }: AccessLogOptions): AccessLog {
  const isOn = mode !== 'off' && log.isLevelEnabled('info');
  const isAll = isOn && mode === 'all';
  const isTraced = log.isLevelEnabled('trace');
  const mayWrite = isAll ? () => true : createLineLimit(log);

  function received({ request, id }: HttpExchange): void {
    // Once a connection is closed, its address is gone: the client is looked up, and so remembered, before that.
    const client = clients.of(request);
    if (isTraced) log.trace({ requestId: id, client, ...routeOf(request) }, 'request received');
  }

  function answered(exchange: HttpExchange): void {
    if (!(isAll || isNotable(exchange)) || !mayWrite()) return;
    const { request, response, id: requestId, begun, access } = exchange;
    const line = {
      requestId,
      client: clients.of(request),
      ...routeOf(request),
      ...toFields(access),
      ...(response.headersSent && { status: response.statusCode }),
      ...(response.destroyed && !response.writableFinished && { aborted: true }),
      ms: msSince(begun),
    };
    log.info(line, isEventStream(response) ? 'event stream ended' : 'request');
  }

  function happened(event: AccessEvent): void {
    if (!(isAll || event.errors?.isNotable) || !mayWrite()) return;
    const { requestId, caller, facts, message } = event;
    log.info({ requestId, client: clients.of(caller), ...toFields(event), ...facts }, message);
  }

  return {
    isAll,
    received: isAll || isTraced ? received : undefined,
    answered: isOn ? answered : undefined,
    happened: isOn ? happened : undefined,
  };
}

/** How long ago that was on the clock of `performance`, to a tenth of a millisecond. */
export function msSince(begun: number): number {
  return Math.round((performance.now() - begun) * 10) / 10;
}

/** Whether the operation of a request was refused, or failed in the gateway itself. */
function isNotable({ access, response, counts }: HttpExchange): boolean {
  return access?.errors?.isNotable || (response.statusCode >= 400 && counts.endpoint === 'graphql');
}

/** No path that leads somewhere is longer. */
const MAX_PATH_LENGTH = 200;

function routeOf({ method, url = '' }: IncomingMessage): object {
  const [path = ''] = url.split('?', 1);
  return { method, path: path.slice(0, MAX_PATH_LENGTH) };
}

function toFields({ label, errors, from }: AccessNote = {}): object {
  return { ...label, ...(errors && { codes: errors.codes }), ...(from && { from }) };
}

const WINDOW_MS = 10_000;
const LINES_PER_WINDOW = 100;

/** Bounds the lines about refused operations: otherwise a hostile client could fill the disk with them. */
function createLineLimit(log: Log): () => boolean {
  let begunAt = Number.NEGATIVE_INFINITY;
  let lines = 0;

  return () => {
    if (performance.now() - begunAt > WINDOW_MS) {
      const leftOut = lines - LINES_PER_WINDOW;
      if (leftOut > 0) log.info({ leftOut }, 'the access log skipped lines');
      begunAt = performance.now();
      lines = 0;
    }
    lines += 1;
    return lines <= LINES_PER_WINDOW;
  };
}
