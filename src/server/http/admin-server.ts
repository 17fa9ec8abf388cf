import { once } from 'node:events';
import { createOpenResponses } from './open-responses.ts';
import { type AdminPagesOptions, createRoutes } from './routes.ts';
import { createHttpServer, listenOn } from './server.ts';

/** The server of the admin port: health, readiness and metrics, without any limit of client addresses. */
type AdminServer = {
  /** @throws Error if the port is not available */
  listen(port: number, host: string): Promise<void>;
  /** Its origin, while it listens. */
  origin(): string | undefined;
  /** Closes the port and all its connections. */
  close(): Promise<void>;
};

type AdminServerOptions = AdminPagesOptions & {
  /** How long a client may keep the gateway waiting. */
  readonly keepAliveMs: number;
};

/** Creates the server. It has the timeouts of the server for clients. */
export function createAdminServer(options: AdminServerOptions): AdminServer {
  const { metrics, accessLog, isStopping, keepAliveMs } = options;
  const responses = createOpenResponses(metrics, accessLog.onResponse);
  const handle = createRoutes({ ...options, hasAdminPages: true, responses, isLast: isStopping });
  const server = createHttpServer({ handle, responses, connections: undefined, metrics, keepAliveMs });
  let origin: string | undefined;
  const stopAborting = responses.abortStalled(keepAliveMs);

  return {
    async listen(port, host) {
      origin = await listenOn(server, port, host);
    },
    origin: () => origin,
    async close() {
      stopAborting();
      if (!server.listening) return;
      origin = undefined;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
