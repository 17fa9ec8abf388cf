import type { GraphQLError } from 'graphql';

import type { SubscribePayload } from 'graphql-ws';
import type { WrittenResult } from '../../graphql/execution/written-result.ts';
import type { Log } from '../../log.ts';
import { type AccessLog, msSince } from '../access-log.ts';
import type { ClientAddresses, ClientIdentity } from '../clients/client-address.ts';
import { type ErrorSummary, summarizeErrors, summarizeRefusal } from '../operations/error-summary.ts';
import { labelOf, type OperationLabel } from '../operations/operation-label.ts';

/** An operation on a websocket. */
export type SocketOperation = {
  readonly caller: ClientIdentity;
  readonly requestId: string;
  readonly id: string;
  readonly payload: SubscribePayload;
};

/** What the log says of websockets and their operations, in the order in which it is called. */
export type WebSocketLog = {
  /** A websocket is refused before it is opened. */
  refused(caller: ClientIdentity, requestId: string, error: GraphQLError): void;
  opened(caller: ClientIdentity, requestId: string): void;
  /** A client sends an operation. */
  begun(operation: SocketOperation): void;
  /** An operation will not be executed; nothing more is kept of it. */
  dropped(operation: SocketOperation): void;
  /** An operation ends with an `error` message: it is refused, or a subscription that had started has failed. */
  failed(operation: SocketOperation, errors: readonly GraphQLError[], hadStarted: boolean): void;
  /** An operation was executed. */
  executed(operation: SocketOperation, result: WrittenResult): void;
  /** A subscription has started; called while its payload is still there. */
  started(operation: SocketOperation): void;
  /** An operation has ended, by whichever side. */
  completed(caller: ClientIdentity, id: string): void;
  closed(caller: ClientIdentity, code: number | undefined): void;
};

/** What is kept of an open websocket that is logged. */
type OpenSocket = {
  readonly requestId: string;
  readonly openedAt: number;
  readonly operations: Map<string, OpenOperation>;
};

type OpenOperation = {
  readonly label: OperationLabel;
  readonly requestId: string;
  readonly begunAt: number;
  isSubscription: boolean;
  errors: ErrorSummary | undefined;
};

/** Creates the log of websockets. Where nothing is logged, nothing is kept of them. */
export function createWebSocketLog(accessLog: AccessLog, clients: ClientAddresses, log: Log): WebSocketLog {
  const { isAll, onEvent: happened } = accessLog;
  const level = isAll ? 'info' : 'debug';
  const logsSockets = log.isLevelEnabled(level);
  const open = new Map<ClientIdentity, OpenSocket>();

  return {
    refused(caller, requestId, error) {
      const status = (error.extensions['http'] as { status?: number } | undefined)?.status;
      happened?.({
        message: 'websocket refused',
        requestId,
        client: caller,
        errors: summarizeRefusal(error),
        facts: { status },
      });
    },
    opened(caller, requestId) {
      if (!logsSockets) return;
      open.set(caller, { requestId, openedAt: performance.now(), operations: new Map() });
      log[level]({ requestId, client: clients.of(caller) }, 'websocket opened');
    },
    begun({ caller, requestId, id, payload }) {
      if (!isAll) return;
      const begunAt = performance.now();
      const operation = { label: labelOf(payload), requestId, begunAt, isSubscription: false, errors: undefined };
      open.get(caller)?.operations.set(id, operation);
    },
    dropped({ caller, id }) {
      open.get(caller)?.operations.delete(id);
    },
    failed({ caller, requestId, id, payload }, all, hadStarted) {
      if (happened === undefined) return;
      const errors = summarizeErrors({ errors: all });
      // Of a subscription that had started, the payload is gone.
      const label = hadStarted ? open.get(caller)?.operations.get(id)?.label : labelOf(payload);
      const message = hadStarted ? 'websocket subscription failed' : 'websocket operation refused';
      happened({ message, requestId, client: caller, ...(label && { label }), errors });
    },
    executed({ caller, requestId, id, payload }, result) {
      if (happened === undefined) return;
      const errors = summarizeErrors(result);
      const operation = open.get(caller)?.operations.get(id);
      if (operation !== undefined) operation.errors = errors;
      else if (errors?.isNotable)
        happened({ message: 'websocket operation failed', requestId, client: caller, label: labelOf(payload), errors });
    },
    started({ caller, requestId, id }) {
      const operation = open.get(caller)?.operations.get(id);
      if (operation === undefined) return;
      operation.isSubscription = true;
      happened?.({ message: 'websocket subscription started', requestId, client: caller, label: operation.label });
    },
    completed(caller, id) {
      const operations = open.get(caller)?.operations;
      const operation = operations?.get(id);
      if (operation === undefined) return;
      operations?.delete(id);
      const { requestId, label, errors, begunAt, isSubscription } = operation;
      const message = isSubscription ? 'websocket subscription ended' : 'websocket operation';
      happened?.({ message, requestId, client: caller, label, errors, facts: { ms: msSince(begunAt) } });
    },
    closed(caller, code) {
      const socket = open.get(caller);
      if (socket === undefined) return;
      open.delete(caller);
      const { requestId, openedAt } = socket;
      const line = { requestId, client: clients.of(caller), code, ms: msSince(openedAt) };
      log[level](line, 'websocket closed');
    },
  };
}
