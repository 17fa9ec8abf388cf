import type { ExecutionArgs, GraphQLError } from 'graphql';
import type { Context as ConnectionContext, SubscribePayload } from 'graphql-ws';
import type { Limits } from '../../graphql/limits.ts';
import { schema } from '../../graphql/schema.ts';
import type { ClientAddresses, ClientIdentity } from '../clients/client-address.ts';
import type { RateLimits } from '../clients/rate-limits.ts';
import { Account } from '../operations/account.ts';
import type { Pipeline, PreparedOperation } from '../operations/pipeline.ts';
import { tooManyAtOnce } from '../operations/refusal.ts';
import type { ClientSocket } from './client-socket.ts';
import type { ConnectionExtra } from './protocol.ts';

/** An operation as graphql-ws hands it from `onSubscribe` to `execute` or `subscribe`. */
export type OperationArgs = ExecutionArgs & {
  /** `undefined` if it is refused, and once its subscription has started. */
  readonly admitted: PreparedOperation | undefined;
  /** Why it is refused. */
  readonly refusal: GraphQLError | undefined;
  readonly requestId: string;
  readonly socket: ClientSocket;
  readonly caller: ClientIdentity;
  readonly id: string;
  readonly payload: SubscribePayload;
};

/** A websocket in the callbacks of graphql-ws. */
type OperationConnection = ConnectionContext<Record<string, unknown> | undefined, ConnectionExtra>;

/** What preparing operations needs. */
type PrepareOptions = {
  readonly pipeline: Pipeline;
  readonly limits: Limits;
  readonly clients: ClientAddresses;
  readonly rates: RateLimits | undefined;
};

/** A `subscribe` message. */
type SubscribeMessage = {
  readonly connection: OperationConnection;
  readonly requestId: string;
  readonly id: string;
  readonly payload: SubscribePayload;
};

/** Prepares and admits an operation. @returns the errors for an `error` message if it is not executed */
export async function prepareOperation(
  { pipeline, limits, clients, rates }: PrepareOptions,
  { connection, requestId, id, payload }: SubscribeMessage,
): Promise<OperationArgs | GraphQLError[]> {
  if (Object.keys(connection.subscriptions).length > limits.maxSubscriptionsPerConnection) {
    return [
      tooManyAtOnce(
        `This websocket has too many open operations. The maximum is ${limits.maxSubscriptionsPerConnection}.`,
      ),
    ];
  }
  const { caller, socket } = connection.extra;
  const account = new Account(rates, caller, 'websocket');
  const prepared = await pipeline.prepare(payload, { address: clients.of(caller), account, wantsCost: false });
  if (prepared.errors !== undefined) return [...prepared.errors];

  const refusal = pipeline.admit(prepared);
  if (refusal?.extensions['code'] === 'RATE_LIMITED') return [refusal];
  const values = openValues(connection, id, refusal === undefined ? prepared.cost.values : 0);
  if (values > limits.maxValuesPerConnection) {
    return [
      tooManyAtOnce(
        `The open operations of this websocket have too many values. The maximum is ${limits.maxValuesPerConnection}.`,
      ),
    ];
  }
  const { document } = prepared.operation;
  const operationName = payload.operationName ?? null;
  const admitted = refusal === undefined ? prepared : undefined;
  const unused = { rootValue: undefined, contextValue: undefined };
  return { schema, document, operationName, ...unused, admitted, refusal, requestId, socket, caller, id, payload };
}

/** Releases the payload of a subscription, which graphql-ws references for as long as it is open. */
export function releasePayload(args: OperationArgs): void {
  Object.assign(args.payload, { query: '', variables: undefined, extensions: undefined });
  Object.assign(args, { admitted: undefined, requestId: '' });
}

/** The number of values of the open operations of a websocket, with this one, which is added to them. */
function openValues({ extra, subscriptions }: OperationConnection, id: string, values: number): number {
  const others = extra.open.filter((each) => each.id !== id && each.id in subscriptions);
  // Spreading would allocate room for sixteen more entries.
  extra.open = others.concat({ id, values });
  return extra.open.reduce((sum, each) => sum + each.values, 0);
}
