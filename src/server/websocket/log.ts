import type { GraphQLError } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import type { Log } from '../../logging/log.ts';
import { type AccessLog, msSince } from '../access-log.ts';
import type { ClientAddresses, ClientIdentity } from '../clients/client-address.ts';
import type { ResponseSource } from '../metrics/metrics.ts';
import type { EncodedResponse } from '../operations/encoded-response.ts';
import { type OperationLabel, summarizeErrors } from '../operations/log-details.ts';
import type { PersistedQueries } from '../operations/persisted-queries.ts';

/** An operation on a websocket, as far as the log knows it. */
export type LoggedOperation = {
  readonly identity: ClientIdentity;
  readonly requestId: string;
  readonly id: string;
  readonly payload: SubscribePayload;
};

/** The same, with when it was received, in `performance.now()`. */
type ReceivedOperation = LoggedOperation & { readonly receivedAt: number };

/** Logs websockets and their operations. Its methods are called in this order. */
export type WebSocketLog = {
  /** An upgrade is refused. */
  refused(identity: ClientIdentity, requestId: string, error: GraphQLError): void;
  opened(identity: ClientIdentity, requestId: string): void;
  /** An operation ends with an `error` message: it is refused, or a subscription that had started has failed. */
  failed(operation: LoggedOperation, errors: readonly GraphQLError[], hadStarted: boolean): void;
  /** An operation has a result. */
  answered(operation: ReceivedOperation, response: EncodedResponse, from: ResponseSource): void;
  /** A subscription has started. Its payload is released afterwards. @param cost the points that it costs */
  started(operation: ReceivedOperation, cost: number): void;
  /** A subscription was completed, by the client or by the gateway. */
  completed(identity: ClientIdentity, id: string): void;
  closed(identity: ClientIdentity, code: number | undefined): void;
};

/** An open websocket that is logged, with its subscriptions. */
type OpenSocket = {
  readonly requestId: string;
  readonly openedAt: number;
  readonly subscriptions: Map<string, OpenSubscription>;
};

type OpenSubscription = { readonly requestId: string; readonly label: OperationLabel; readonly receivedAt: number };

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

  return {
    refused(identity, requestId, error) {
      const status = (error.extensions['http'] as { status?: number } | undefined)?.status;
      const errors = summarizeErrors([error]);
      onEvent?.({ message: 'websocket refused', requestId, identity, errors, facts: { status } });
    },
    opened(identity, requestId) {
      if (!logsSockets) return;
      open.set(identity, { requestId, openedAt: performance.now(), subscriptions: new Map() });
      log[level]({ requestId, client: clients.of(identity) }, 'websocket opened');
    },
    failed({ identity, requestId, id, payload }, graphQLErrors, hadStarted) {
      if (onEvent === undefined) return;
      const errors = summarizeErrors(graphQLErrors);
      // The payload of a subscription that had started is released.
      const label = hadStarted ? open.get(identity)?.subscriptions.get(id)?.label : labelOf(payload);
      const message = hadStarted ? 'websocket subscription failed' : 'websocket operation refused';
      onEvent({ message, requestId, identity, ...(label && { label }), errors });
    },
    answered({ identity, requestId, payload, receivedAt }, { accessDetails: details, bytes }, from) {
      const isOpen = isAll && open.has(identity);
      if (onEvent === undefined || !(isOpen || details.errors?.isNotable)) return;
      const event = { requestId, identity, label: labelOf(payload), ...details };
      const facts = { bytes, ms: msSince(receivedAt) };
      if (isOpen) onEvent({ ...event, message: 'websocket operation', from, facts });
      else onEvent({ ...event, message: 'websocket operation failed' });
    },
    started({ identity, requestId, id, payload, receivedAt }, cost) {
      const subscriptions = open.get(identity)?.subscriptions;
      if (!isAll || subscriptions === undefined) return;
      const label = labelOf(payload);
      subscriptions.set(id, { requestId, label, receivedAt });
      onEvent?.({ message: 'websocket subscription started', requestId, identity, label, cost });
    },
    completed(identity, id) {
      const subscriptions = open.get(identity)?.subscriptions;
      const subscription = subscriptions?.get(id);
      if (subscription === undefined) return;
      subscriptions?.delete(id);
      const { receivedAt, ...named } = subscription;
      const facts = { ms: msSince(receivedAt) };
      onEvent?.({ message: 'websocket subscription ended', identity, ...named, facts });
    },
    closed(identity, code) {
      const socket = open.get(identity);
      if (socket === undefined) return;
      open.delete(identity);
      const { requestId, openedAt } = socket;
      const bytes = identity.socket.bytesWritten;
      const line = { requestId, client: clients.of(identity), code, bytes, ms: msSince(openedAt) };
      log[level](line, 'websocket closed');
    },
  };
}
