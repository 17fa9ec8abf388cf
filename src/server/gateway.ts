import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Service } from '../graphql/context.ts';
import type { Log } from '../log.ts';
import { createHttpServer } from './http.ts';
import { openWebSocketDoor } from './websocket.ts';
import { createGatewayYoga, type Yoga } from './yoga.ts';

/** The doors of the gateway. */
export type Gateway = {
  /** Asks without a port: the same pipeline as over HTTP. */
  readonly fetch: Yoga['fetch'];
  /** @returns the address of the GraphQL endpoint. @throws where the port cannot be had */
  listen(port: number, host: string): Promise<string>;
  /** Stops accepting, closes what is open. */
  close(): Promise<void>;
};

/** Makes the doors: HTTP, with server-sent events, and websockets, all into one pipeline. */
export function createGateway(service: Service, log: Log): Gateway {
  const yoga = createGatewayYoga(service, log);
  const server = createHttpServer(yoga);
  const webSockets = openWebSocketDoor(server, yoga, service.limits);

  return {
    fetch: yoga.fetch,
    async listen(port, host) {
      server.listen(port, host);
      await once(server, 'listening');
      const { address, family, port: taken } = server.address() as AddressInfo;
      return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}/graphql`;
    },
    async close() {
      const closed = server.listening ? once(server, 'close') : undefined;
      server.close();
      await webSockets.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
