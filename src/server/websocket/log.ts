import type { GraphQLError } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import type { Log } from '../../logging/log.ts';
import { type AccessLog, msSince } from '../access-log.ts';
import type { ClientAddresses, ClientIdentity } from '../clients/client-address.ts';
import type { ResponseSource } from '../metrics/metrics.ts';
import type { EncodedResponse } from '../operations/encoded-response.ts';
import { type AccessDetails, type OperationLabel, summarizeErrors } from '../operations/log-details.ts';
import type { PersistedQueries } from '../operations/persisted-queries.ts';

/** An operation on a websocket, as far as the log knows it. */
export type LoggedOperation = {
  readonly caller: ClientIdentity;
  readonly requestId: string;
  readonly id: string;
  readonly payload: SubscribePayload;
};

/** Logs websockets and their operations. Its methods are called in this order. */
export type WebSocketLog = {
  /** An upgrade is refused. */
  refused(caller: ClientIdentity, requestId: string, error: GraphQLError): void;
  opened(caller: ClientIdentity, requestId: string): void;
  /** A client has sent an operation. */
  received(operation: LoggedOperation): void;
  /** An operation is refused before it is executed. `failed` is called with its errors. */
  rejected(operation: LoggedOperation): void;
  /** An operation ends with an `error` message: it is refused, or a subscription that had started has failed. */
  failed(operation: LoggedOperation, errors: readonly GraphQLError[], hadStarted: boolean): void;
  /** An operation has a result. */
  answered(operation: LoggedOperation, response: EncodedResponse, from: ResponseSource): void;
  /** A subscription has started. Its payload is released afterwards. @param cost the points that it costs */
  started(operation: LoggedOperation, cost: number): void;
  /** A subscription was completed, by the client or by the gateway. */
  completed(caller: ClientIdentity, id: string): void;
  closed(caller: ClientIdentity, code: number | undefined): void;
};

/** An open websocket that is logged. */
type OpenSocket = {
  readonly requestId: string;
  readonly openedAt: number;
  readonly operations: Map<string, OpenOperation>;
};

type OpenOperation = {
  readonly label: OperationLabel;
  readonly requestId: string;
  readonly startedAt: number;
  isSubscription: boolean;
};

type WebSocketLogOptions = {
  readonly accessLog: AccessLog;
  readonly clients: ClientAddresses;
  readonly log: Log;
  readonly persisted: PersistedQueries;
};

/** Creates the log of websockets. If nothing is logged, it stores nothing. */
export function createWebSocketLog({ accessLog, clients, log, persisted }: WebSocketLogOptions): WebSocketLog {
  const { labelOf } = persisted;
  const { isAll, onEvent } = accessLog;
  const level = isAll ? 'info' : 'debug';
  const logsSockets = log.isLevelEnabled(level);
  const open = new Map<ClientIdentity, OpenSocket>();

  function logEnd(caller: ClientIdentity, id: string, details: AccessDetails = {}, bytes?: number): void {
    const operations = open.get(caller)?.operations;
    const operation = operations?.get(id);
    if (operation === undefined) return;
    operations?.delete(id);
    const { requestId, label, startedAt, isSubscription } = operation;
    const message = isSubscription ? 'websocket subscription ended' : 'websocket operation';
    onEvent?.({ message, requestId, client: caller, label, ...details, facts: { bytes, ms: msSince(startedAt) } });
  }

  return {
    refused(caller, requestId, error) {
      const status = (error.extensions['http'] as { status?: number } | undefined)?.status;
      const errors = summarizeErrors([error]);
      onEvent?.({ message: 'websocket refused', requestId, client: caller, errors, facts: { status } });
    },
    opened(caller, requestId) {
      if (!logsSockets) return;
      open.set(caller, { requestId, openedAt: performance.now(), operations: new Map() });
      log[level]({ requestId, client: clients.of(caller) }, 'websocket opened');
    },
    received({ caller, requestId, id, payload }) {
      if (!isAll) return;
      const startedAt = performance.now();
      const operation = { label: labelOf(payload), requestId, startedAt, isSubscription: false };
      open.get(caller)?.operations.set(id, operation);
    },
    rejected({ caller, id }) {
      open.get(caller)?.operations.delete(id);
    },
    failed({ caller, requestId, id, payload }, graphQLErrors, hadStarted) {
      if (onEvent === undefined) return;
      const errors = summarizeErrors(graphQLErrors);
      // The payload of a subscription that had started is released.
      const label = hadStarted ? open.get(caller)?.operations.get(id)?.label : labelOf(payload);
      const message = hadStarted ? 'websocket subscription failed' : 'websocket operation refused';
      onEvent({ message, requestId, client: caller, ...(label && { label }), errors });
    },
    answered({ caller, requestId, id, payload }, { accessDetails: details, bytes }, from) {
      if (onEvent === undefined) return;
      if (open.get(caller)?.operations.has(id)) return logEnd(caller, id, { ...details, from }, bytes);
      if (!details.errors?.isNotable) return;
      const label = labelOf(payload);
      onEvent({ message: 'websocket operation failed', requestId, client: caller, label, ...details });
    },
    started({ caller, requestId, id }, cost) {
      const operation = open.get(caller)?.operations.get(id);
      if (operation === undefined) return;
      operation.isSubscription = true;
      const { label } = operation;
      onEvent?.({ message: 'websocket subscription started', requestId, client: caller, label, cost });
    },
    completed: (caller, id) => logEnd(caller, id),
    closed(caller, code) {
      const socket = open.get(caller);
      if (socket === undefined) return;
      open.delete(caller);
      const { requestId, openedAt } = socket;
      const bytes = caller.socket.bytesWritten;
      const line = { requestId, client: clients.of(caller), code, bytes, ms: msSince(openedAt) };
      log[level](line, 'websocket closed');
    },
  };
}
