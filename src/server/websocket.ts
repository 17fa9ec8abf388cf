import type { Server } from 'node:http';
import { type ExecutionArgs, GraphQLError } from 'graphql';
import type { Context as ConnectionContext, SubscribePayload } from 'graphql-ws';
import { type Extra, useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import type { Limits } from '../graphql/limits.ts';
import { pathOf } from './http.ts';
import { GRAPHQL_PATH, type Yoga } from './yoga.ts';

/** What the websocket door holds open. */
export type WebSocketDoor = {
  /** Closes every socket with 1001, going away. */
  close(): Promise<void>;
};

type Enveloped = ReturnType<Yoga['getEnveloped']>;

/** An operation on its way from `onSubscribe` to its execution, with the pipeline that it goes through. */
type OperationArgs = ExecutionArgs & { readonly rootValue: Pick<Enveloped, 'execute' | 'subscribe'> };

/** Opens the websocket door: graphql-ws keeps the protocol, every operation goes through Yoga's pipeline. */
export function openWebSocketDoor(server: Server, yoga: Yoga, limits: Limits): WebSocketDoor {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.maxBodyBytes });

  server.on('upgrade', (request, socket, head) => {
    if (pathOf(request) !== GRAPHQL_PATH) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => sockets.emit('connection', webSocket, request));
  });

  const door = useServer(
    {
      execute: (args) => (args as OperationArgs).rootValue.execute(args),
      subscribe: (args) => (args as OperationArgs).rootValue.subscribe(args),
      onSubscribe: (connection, _id, payload) => prepare(yoga, limits, connection, payload),
      onNext: (_connection, _id, _payload, _args, { errors, data }) =>
        errors && { ...(data === undefined ? {} : { data }), errors: errors.map(withoutHttp) },
      onError: (_connection, _id, _payload, errors) => errors.map(withoutHttp),
    },
    sockets,
  );
  return { close: async () => door.dispose() };
}

/** Parses and validates an operation in the pipeline; what is wrong with it is its `error` message. */
async function prepare(
  yoga: Yoga,
  limits: Limits,
  connection: ConnectionContext<Record<string, unknown> | undefined, Extra>,
  payload: SubscribePayload,
): Promise<OperationArgs | GraphQLError[]> {
  if (Object.keys(connection.subscriptions).length > limits.maxSubscriptionsPerConnection) {
    const message = `A websocket has ${limits.maxSubscriptionsPerConnection} open operations at most.`;
    return [new GraphQLError(message, { extensions: { code: 'RATE_LIMITED' } })];
  }
  const { request: req, socket } = connection.extra;
  const enveloped: Enveloped = yoga.getEnveloped({
    connectionParams: connection.connectionParams,
    req,
    socket,
    params: payload,
  });
  try {
    const document = enveloped.parse(payload.query);
    const errors = enveloped.validate(enveloped.schema, document);
    if (errors.length > 0) return [...errors];

    return {
      schema: enveloped.schema,
      document,
      operationName: payload.operationName ?? null,
      variableValues: payload.variables ?? null,
      contextValue: await enveloped.contextFactory(),
      rootValue: { execute: enveloped.execute, subscribe: enveloped.subscribe },
    };
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}

/** An error as a client gets it: what only concerns HTTP is left out. */
function withoutHttp(error: GraphQLError): ReturnType<GraphQLError['toJSON']> {
  const { extensions = {}, ...rest } = error.toJSON();
  const { http: _http, ...others } = extensions;
  return { ...rest, extensions: others };
}
