import { type ExecutionArgs, GraphQLError, parse } from 'graphql';
import type { SubscribePayload } from 'graphql-ws';
import { andThen, type MaybePromise } from '../../domain/maybe-promise.ts';
import { countValues } from '../../graphql/execution/arguments.ts';
import type { Limits } from '../../graphql/limits.ts';
import { schema } from '../../graphql/schema.ts';
import { inSpan } from '../../tracing/tracing.ts';
import { Account } from '../clients/rate-limits.ts';
import type { ResponseSource } from '../metrics/metrics.ts';
import { EncodedResponse } from '../operations/encoded-response.ts';
import { codesOf } from '../operations/log-details.ts';
import { isSubscription, type Prepared, type PreparedOperation } from '../operations/prepared-operation.ts';
import { MIN_HEIGHT_HEADER } from '../requests/headers.ts';
import { tooManyAtOnce } from '../requests/refusal.ts';
import { createWriteBatch } from '../requests/write-batch.ts';
import type { TransportOptions } from '../transport-options.ts';
import type { WebSocketLog } from './log.ts';
import {
  closeOperation,
  isOpen,
  keyOfPayload,
  type OpenOperation,
  type ProtocolContext,
  type ProtocolOptions,
  type SocketOperation,
} from './protocol.ts';
import { type Receiver, sendResult, sendUpdates } from './sending.ts';

/** What operations need. */
export type SocketOperationsOptions = TransportOptions & {
  readonly limits: Limits;
  readonly log: WebSocketLog;
};

/** What becomes of an operation: its result was sent, it is refused with these errors, or it is a subscription. */
type Outcome = typeof SENT | GraphQLError[] | PreparedOperation;

const SENT = 'sent';

/** Stands for the document of each subscription, which can be large: graphql-ws only needs one with a subscription. */
const ANY_SUBSCRIPTION = parse('subscription { __typename }');

/** Returned when the operation is closed. For graphql-ws, an operation with errors is over. It sends them only while it is open. */
const OVER = [new GraphQLError('The result was sent.')];

/**
 * Creates the handler of operations. It returns refusals and subscriptions to graphql-ws, and sends results itself: graphql-ws
 * would need their data as an object, and encode it again.
 */
export function createSocketOperations(options: SocketOperationsOptions): NonNullable<ProtocolOptions['onSubscribe']> {
  const { pipeline, minimumHeights, limits, clients, rates, metrics, requestIds, log, tracing } = options;
  const { maxSubscriptionsPerConnection, maxValuesPerConnection } = limits;
  const batch = createWriteBatch();
  const respond = options.respondOver<SocketOperation, Outcome>({ execute, send, refuse: (_, error) => [error] });

  const TOO_MANY_OPERATIONS = tooManyAtOnce(
    `This websocket has too many open operations. The maximum is ${maxSubscriptionsPerConnection}.`,
  );
  const TOO_MANY_VALUES = tooManyAtOnce(
    `The open operations of this websocket have too many values. The maximum is ${maxValuesPerConnection}.`,
  );

  async function onSubscribe(connection: ProtocolContext, id: string, payload: SubscribePayload) {
    const { extra } = connection;
    const { identity, socket } = extra;
    const requestId = requestIdOf(id, requestIds.of(identity));
    const account = new Account(rates, identity, 'websocket');
    const values = countValues(payload);
    const key = values > MAX_KEYED_VALUES ? undefined : keyOfPayload(payload);
    const receivedAt = performance.now();
    const span = tracing?.startOperation('websocket', requestId, identity.headers, receivedAt);
    const opened = { id, payload, values: 0, hasStarted: false, logged: undefined };
    const operation = { connection, opened, requestId, receivedAt, key, account, span };

    // Spreading would allocate room for sixteen more entries.
    extra.open = extra.open.concat(opened);
    const hasTooMany = countedOf(connection).length > maxSubscriptionsPerConnection;
    const excess = hasTooMany ? TOO_MANY_OPERATIONS : addToOpen(operation, values);
    const responding = excess === undefined ? respondAtMinimum(operation) : [account.chargeUpTo(1) ?? excess];
    // Also what is known at once is awaited: messages of the same read are handled first, and one of them can complete the operation.
    const outcome = await (responding instanceof Promise ? socket.track(responding) : responding);
    if (Array.isArray(outcome)) {
      span?.end({ codes: codesOf(outcome) });
      if (isOpen(connection, opened)) return outcome;
    } else if (outcome !== SENT) {
      const args = await start(operation, outcome);
      if (args !== undefined) return args;
    }
    // The operation stays open until its result is written, for the limits of open operations.
    await socket.untilWritten(identity.socket);
    await closeOperation(connection, opened);
    delete connection.subscriptions[id];
    return OVER;
  }

  /** Responds when the minimum height of the websocket is served, if it has one that was not reached before. */
  function respondAtMinimum(operation: SocketOperation): MaybePromise<Outcome> {
    const { extra } = operation.connection;
    if (extra.minHeight === undefined) return respond(operation);
    const reached =
      operation.account.chargeUpTo(1) ??
      minimumHeights.reach(extra.minHeight, MIN_HEIGHT_HEADER, clientOf(operation), operation.opened.payload);
    return andThen(reached, (refused) => {
      if (refused !== undefined) return [refused];
      extra.minHeight = undefined;
      return respond(operation);
    });
  }

  function execute(operation: SocketOperation): MaybePromise<EncodedResponse | Outcome> {
    const client = clientOf(operation);
    return requestIds.run(operation.requestId, () =>
      inSpan(operation.span, () =>
        andThen(pipeline.prepare(operation.opened.payload, client), (prepared) => run(operation, prepared)),
      ),
    );
  }

  function clientOf({ connection, receivedAt, account, span }: SocketOperation) {
    const { identity, socket } = connection.extra;
    return { address: clients.of(identity), connection: socket, receivedAt, account, wantsCost: false, span };
  }

  function run(operation: SocketOperation, prepared: Prepared): MaybePromise<EncodedResponse | Outcome> {
    if (prepared.errors !== undefined) return [...prepared.errors];
    const refusal = pipeline.admit(prepared);
    if (refusal?.extensions['code'] === 'RATE_LIMITED') return [refusal];
    const excess = addToOpen(operation, refusal === undefined ? prepared.cost.values : 0);
    if (excess !== undefined) return [excess];
    if (refusal !== undefined) return pipeline.refuse(prepared.client, [refusal], prepared);
    return isSubscription(prepared) ? prepared : pipeline.execute(prepared);
  }

  function send(operation: SocketOperation, response: EncodedResponse, from: ResponseSource): Outcome {
    // The values of an executed query were added before.
    const excess = from === 'executed' ? undefined : addToOpen(operation, response.facts.values);
    if (excess !== undefined) {
      operation.span?.end({ codes: codesOf([excess]) });
      return [excess];
    }
    log.responded(operation, response, from);
    // The client may have completed the operation.
    if (isOpen(operation.connection, operation.opened)) {
      metrics.recordErrors(response.errors);
      sendResult(receiverOf(operation), response, batch);
    }
    return SENT;
  }

  /** Starts a subscription, whose root value sends the updates; `undefined` if its errors were sent, or the client has completed it. */
  async function start(operation: SocketOperation, prepared: PreparedOperation): Promise<ExecutionArgs | undefined> {
    const { connection, opened, requestId, span } = operation;
    const { payload } = opened;
    const started = await requestIds.run(requestId, () => inSpan(span, () => pipeline.subscribe(prepared)));
    span?.end({ codes: started instanceof EncodedResponse ? codesOf(started.errors) : [] });
    if (started instanceof EncodedResponse) {
      send(operation, started, 'executed');
      return undefined;
    }
    if (!isOpen(connection, opened)) return undefined;
    opened.hasStarted = true;
    log.started(operation, started.points);
    releasePayload(payload);
    // graphql-ws references the arguments until the subscription ends, so they contain nothing that only its start needs.
    const rootValue = sendUpdates(started.updates, receiverOf(operation));
    return { schema, document: ANY_SUBSCRIPTION, operationName: null, rootValue, contextValue: undefined };
  }

  /** Adds the values of an operation to those of the open operations of its websocket. @returns why there are too many */
  function addToOpen({ connection, opened }: SocketOperation, values: number) {
    opened.values = Math.max(opened.values, values);
    const sum = countedOf(connection).reduce((all, each) => all + each.values, 0);
    return sum > maxValuesPerConnection ? TOO_MANY_VALUES : undefined;
  }

  return onSubscribe;
}

/** The operations that count for the limits of a websocket: those that are open or executed. */
function countedOf({ extra, subscriptions }: ProtocolContext): readonly OpenOperation[] {
  return extra.open.filter(({ hasStarted, id }) => !hasStarted || id in subscriptions);
}

/** The request id of an operation: that of its websocket, and its own. */
export function requestIdOf(id: string, socketRequestId: string): string {
  return `${socketRequestId}/${id.slice(0, MAX_LOGGED_ID)}`;
}

/** Clients choose the ids of their operations. */
const MAX_LOGGED_ID = 64;

/** A payload with more values has no key: its text would be too long for one. */
const MAX_KEYED_VALUES = 16_384;

function receiverOf({ connection: { extra }, opened }: SocketOperation): Receiver {
  return { socket: extra.socket, wire: extra.identity.socket, id: opened.id };
}

/** Releases the members of a payload, which graphql-ws references for as long as its subscription is open. */
function releasePayload(payload: SubscribePayload): void {
  const released = { documentId: undefined, operationName: undefined, variables: undefined, extensions: undefined };
  Object.assign(payload, released, { query: '' });
}
