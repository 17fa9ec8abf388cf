import { type ExecutionArgs, GraphQLError, getOperationAST } from 'graphql';
import type { Context as ConnectionContext, SubscribePayload } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Limits } from '../../graphql/limits.ts';
import type { ClientIdentity } from '../clients/client-address.ts';
import type { Admission } from '../operations/admission.ts';
import type { Documents } from '../operations/documents.ts';
import { badRequest, tooManyAtOnce } from '../operations/refusal.ts';
import type { Yoga } from '../yoga/yoga.ts';
import type { Peer } from './protocol.ts';

type Enveloped = ReturnType<Yoga['getEnveloped']>;

/** An operation on its way from `onSubscribe` to its execution, with the pipeline that it goes through. */
export type OperationArgs = ExecutionArgs & {
  readonly rootValue: Pick<Enveloped, 'subscribe'>;
  readonly contextValue: object;
  readonly requestId: string;
  readonly socket: WebSocket;
  readonly caller: ClientIdentity;
  readonly id: string;
  readonly payload: SubscribePayload;
};

/** A websocket as graphql-ws knows it. */
export type Connection = ConnectionContext<Record<string, unknown> | undefined, Peer>;

/** What operations are prepared with. */
export type PrepareOptions = {
  readonly yoga: Yoga;
  readonly documents: Documents;
  readonly admission: Admission;
  readonly limits: Limits;
};

/** What was asked on a websocket. */
export type Asked = {
  readonly connection: Connection;
  readonly requestId: string;
  readonly id: string;
  readonly payload: SubscribePayload;
};

/** As Yoga says it over HTTP. */
const NO_SUCH_OPERATION = badRequest(400, 'Could not determine what operation to execute.');

/** Parses and validates an operation in the pipeline; what is wrong with it is its `error` message. */
export async function prepare(
  { yoga, documents, admission, limits }: PrepareOptions,
  { connection, requestId, id, payload }: Asked,
): Promise<OperationArgs | GraphQLError[]> {
  if (Object.keys(connection.subscriptions).length > limits.maxSubscriptionsPerConnection) {
    return [
      tooManyAtOnce(
        `This websocket has too many open operations. The maximum is ${limits.maxSubscriptionsPerConnection}.`,
      ),
    ];
  }
  const { caller: req, socket } = connection.extra;
  const door = { connectionParams: connection.connectionParams, req, socket, params: payload };
  const enveloped: Enveloped = yoga.getEnveloped(door);
  try {
    admission.chargeDocument(door, payload.query);
    const { document, errors } = await documents.read(payload.query);
    if (document === undefined) {
      admission.chargeErrors(door, errors.length);
      return [...errors];
    }
    if (getOperationAST(document, payload.operationName) == null) return [NO_SUCH_OPERATION];

    const args = {
      schema: enveloped.schema,
      document,
      operationName: payload.operationName ?? null,
      variableValues: payload.variables ?? null,
      contextValue: await enveloped.contextFactory(),
      rootValue: { subscribe: enveloped.subscribe },
      requestId,
      socket,
      caller: req,
      id,
      payload,
    };
    const values = openValues(connection, id, admission.valuesOf(args));
    if (values > limits.maxValuesPerConnection) {
      return [
        tooManyAtOnce(
          `The open operations of this websocket have too many values. The maximum is ${limits.maxValuesPerConnection}.`,
        ),
      ];
    }
    const refusal = admission.refusalOf(args);
    // What asks for too much in itself is told so in its execution, as over HTTP.
    return refusal?.extensions['code'] === 'RATE_LIMITED' ? [refusal] : args;
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}

/** Lets go of what an operation came with: graphql-ws holds on to it for as long as its subscription is open. */
export function forget(args: OperationArgs): void {
  Object.assign(args.payload, { query: '', variables: undefined, extensions: undefined });
  Object.assign(args, { contextValue: undefined, variableValues: undefined, rootValue: undefined, requestId: '' });
}

/** About how many values the open operations of a socket give, with this one, which is noted at their peer. */
function openValues({ extra, subscriptions }: Connection, id: string, values: number): number {
  const others = extra.open.filter((each) => each.id !== id && each.id in subscriptions);
  // Not by spreading, which leaves room for sixteen more.
  extra.open = others.concat({ id, values });
  return extra.open.reduce((sum, each) => sum + each.values, 0);
}
