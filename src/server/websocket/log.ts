import type { GraphQLError } from 'graphql';
import type { Log } from '../../logging/log.ts';
import { type AccessLog, msSince } from '../access-log.ts';
import type { ClientAddresses, ClientIdentity } from '../clients/client-address.ts';
import type { ResponseSource } from '../metrics/metrics.ts';
import type { EncodedResponse } from '../operations/encoded-response.ts';
import { summarizeErrors } from '../operations/log-details.ts';
import type { PersistedQueries } from '../operations/persisted-queries.ts';
import type { ClientSocket } from './client-socket.ts';
import type { OpenOperation, SocketOperation } from './protocol.ts';

/** Logs websockets and their operations. */
export type WebSocketLog = ReturnType<typeof createWebSocketLog>;

type WebSocketLogOptions = {
  readonly accessLog: AccessLog;
  readonly clients: ClientAddresses;
  readonly log: Log;
  readonly persisted: PersistedQueries;
};

/** Creates the log of websockets. */
export function createWebSocketLog({ accessLog, clients, log, persisted }: WebSocketLogOptions) {
  const { labelOf } = persisted;
  const { isAll, onEvent } = accessLog;
  const level = isAll ? 'info' : 'debug';

  return {
    /** An upgrade is refused. */
    refused(identity: ClientIdentity, requestId: string, error: GraphQLError): void {
      const status = (error.extensions['http'] as { status?: number } | undefined)?.status;
      const errors = summarizeErrors([error]);
      onEvent?.({ message: 'websocket refused', requestId, identity, errors, facts: { status } });
    },
    opened(identity: ClientIdentity, requestId: string): void {
      log[level]({ requestId, client: clients.of(identity) }, 'websocket opened');
    },
    /** An operation ends with an `error` message. */
    failed(
      identity: ClientIdentity,
      requestId: string,
      { hasStarted, payload, logged }: OpenOperation,
      errors: readonly GraphQLError[],
    ): void {
      if (onEvent === undefined) return;
      // The payload of a subscription that had started is released.
      const label = hasStarted ? logged?.label : labelOf(payload);
      const message = hasStarted ? 'websocket subscription failed' : 'websocket operation refused';
      onEvent({ message, requestId, identity, ...(label && { label }), errors: summarizeErrors(errors) });
    },
    /** An operation has a result. */
    responded(
      operation: SocketOperation,
      { accessDetails: details, bytes }: EncodedResponse,
      from: ResponseSource,
    ): void {
      const { connection, opened, requestId, receivedAt } = operation;
      const { socket, identity } = connection.extra;
      const isLogged = isAll && !socket.closed;
      if (onEvent === undefined || !(isLogged || details.errors?.isNotable)) return;
      const event = { requestId, identity, label: labelOf(opened.payload), ...details };
      const facts = { bytes, ms: msSince(receivedAt) };
      if (isLogged) onEvent({ ...event, message: 'websocket operation', from, facts });
      else onEvent({ ...event, message: 'websocket operation failed' });
    },
    /** A subscription has started. Its payload is released afterwards. @param cost the points that it costs */
    started({ connection, opened, requestId, receivedAt }: SocketOperation, cost: number): void {
      const { socket, identity } = connection.extra;
      if (!isAll || socket.closed) return;
      const label = labelOf(opened.payload);
      opened.logged = { requestId, label, receivedAt };
      onEvent?.({ message: 'websocket subscription started', requestId, identity, label, cost });
    },
    /** An operation has ended. Only a subscription whose start was logged has a line. */
    completed(identity: ClientIdentity, opened: OpenOperation | undefined): void {
      if (opened?.logged === undefined) return;
      const { receivedAt, ...named } = opened.logged;
      const facts = { ms: msSince(receivedAt) };
      onEvent?.({ message: 'websocket subscription ended', identity, ...named, facts });
    },
    closed(identity: ClientIdentity, requestId: string, { openedAt }: ClientSocket, code: number): void {
      const bytes = identity.socket.bytesWritten;
      const line = { requestId, client: clients.of(identity), code, bytes, ms: msSince(openedAt) };
      log[level](line, 'websocket closed');
    },
  };
}
