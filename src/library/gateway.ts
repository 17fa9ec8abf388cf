import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GraphQLSchema } from 'graphql';
import pino from 'pino';
import { startApp } from '../compose/app.ts';
import { schema } from '../graphql/schema.ts';
import { type Log, logOptions } from '../logging/log.ts';
import type { Redact } from '../logging/redact.ts';
import { readOptions } from '../settings/read-options.ts';
import { redactorOf } from '../settings/secrets.ts';
import type { Config } from '../settings/settings.ts';
import type { SettingOptions } from './setting-options.ts';

/**
 * Where the library logs. The loggers of pino, Fastify and bunyan are such, and so is `console`. The fields of a line come first,
 * then its message.
 */
export type Logger = {
  readonly trace?: LogMethod;
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
};

type LogMethod = (fields: object, message: string) => void;

/** The options of a gateway: its settings, and where it logs. */
export type GatewayOptions = SettingOptions & {
  /** Gets the lines of the log from `logLevel` on, without any secret of the options. By default, nothing is logged. */
  readonly logger?: Logger | undefined;
};

/** Where a gateway listens. */
type Listening = {
  /** The URL of the GraphQL endpoint. */
  readonly url: string;
  /** The URL of the admin port, without a path; `undefined` without the option `adminPort`. */
  readonly adminUrl: string | undefined;
};

/**
 * A gateway in this process. It installs no signal handlers, reads no settings from environment variables and writes nothing to
 * standard output. Several gateways do not affect each other.
 */
export type Gateway = {
  /** The schema. Its resolvers need a context of this gateway: use `fetch` to execute operations. */
  readonly schema: GraphQLSchema;
  /**
   * Handles a request to the GraphQL endpoint. The path of its URL is ignored. Rate limits and `corsOrigins` do not apply.
   *
   * @throws TypeError if the body of the request was already read
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Handles a request that another HTTP server has received, whether or not its body was parsed before. Paths are compared with
   * `request.url`: `/graphql`, `/`, `/schema.graphql`, those of the REST API, without the option `adminPort` also `/health`, `/ready` and
   * `/metrics`, and with the option `explorer` also those of its pages and files.
   *
   * @param next called for every other path; without it, the response has status 404
   */
  readonly handler: (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;
  /**
   * Handles the event `upgrade` of another HTTP server: opens a websocket for operations. The path is ignored. A request to change
   * to another protocol is handed back to that server, as a request without `Upgrade`.
   */
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /**
   * Starts an HTTP server with all endpoints. The defaults are the options `port` and `host`. With the option `adminPort`, it
   * also starts the server of `/health`, `/ready` and `/metrics`.
   *
   * @returns the URL of the GraphQL endpoint, and that of the admin port
   * @throws ConfigError if the port or the host is invalid
   * @throws Error if the gateway is closed, and with a `code` such as `EADDRINUSE` if a port is not available, or if it already listens
   */
  listen(address?: { readonly port?: number | undefined; readonly host?: string | undefined }): Promise<Listening>;
  /**
   * Closes the server, websockets and event streams, and waits for requests in progress, within `stopWindowMs` and
   * `stopTimeoutMs`. Then each new request gets status 503, and the connections to the upstreams are closed. Afterwards nothing
   * of the gateway keeps the process running. A later call returns the same promise.
   */
  close(): Promise<void>;
};

/**
 * Creates a gateway, which reads from its upstreams until it is closed. If neither `fullnodeUrl` nor `marketDataUrl` is set, a
 * built-in sandbox simulates both; with `sandbox: false`, that is an error.
 *
 * @throws ConfigError that lists everything that is wrong with the options
 */
export async function createGateway({ logger, ...options }: GatewayOptions = {}): Promise<Gateway> {
  const config = readOptions(options);
  const app = await startApp(config, createLog(logger, config, redactorOf(config)));
  let listening: Promise<unknown> = Promise.resolve();
  let closing: Promise<void> | undefined;

  return {
    schema,
    async fetch(request) {
      if (request.bodyUsed || request.body?.locked) throw new TypeError(BODY_USED);
      return app.fetch(request);
    },
    handler: app.handle,
    handleUpgrade: app.handleUpgrade,
    async listen(address = {}) {
      if (closing) throw new Error('The gateway is closed.');
      const { port, host } = readOptions({ port: address.port ?? config.port, host: address.host ?? config.host });
      // If a server begins to listen twice at once, Node opens two sockets, and closes only one of them later.
      const starting = listening.then(() => app.listen(port, host));
      listening = starting.catch(() => {});
      return { url: await starting, adminUrl: app.adminUrl() };
    },
    close() {
      // A server that does not listen yet cannot be closed.
      closing ??= listening.then(() => app.close());
      return closing;
    },
  };
}

const BODY_USED = 'The body of the request was already read: read it from request.clone(), and pass the request';

/** Creates the log. It passes its lines to the logger, redacted; without one, it has none. */
function createLog(logger: Logger | undefined, { logLevel }: Config, redact: Redact): Log {
  const { labels } = pino.levels;
  const write = (line: string) => {
    const { level, time: _time, msg, ...fields } = JSON.parse(line);
    logger?.[labels[level] as keyof Logger]?.(fields, msg);
  };
  return pino(logOptions(logger === undefined ? 'silent' : logLevel, redact), { write });
}
