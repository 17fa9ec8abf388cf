import { createClient, createCluster, createSentinel, ErrorReply, RESP_TYPES, type RedisArgument } from '@redis/client';

/** What Redis replies with. Texts are bytes, because values of the fleet are binary. */
export type RedisReply = Buffer | string | number | null | readonly RedisReply[];

/** A client of the library, of one server, of a cluster, or of what Sentinel watches. */
export type RedisClient = {
  /** Connects, and subscribes to the channel. Without a limit of time. @throws an error of the library */
  connect(): Promise<void>;
  /** Sends a command. In a cluster, the key decides about the server. @throws an error of the library */
  send(key: string, args: readonly RedisArgument[]): Promise<RedisReply>;
  /** Whether an error is a reply of Redis, and not of the connection. */
  isReply(error: unknown): boolean;
  /** Closes the connection, or ends the attempt to connect. Pending commands fail. */
  destroy(): void;
};

/** A channel, and what is called with each message of it. */
type RedisSubscription = { readonly channel: string; readonly onMessage: (message: string) => void };

const CONNECT_TIMEOUT_MS = 2_000;

/** Ends a connection that asks where the servers are and gets no reply: `destroy` of the library does not. Pings keep an idle one. */
const DISCOVERY = { socketTimeout: 2_000 };

/** Commands that wait for a reply. More of them fail at once. */
const MAX_PENDING_COMMANDS = 10_000;

/** How the URLs name Redis: several are the nodes of a cluster. */
export function kindOf(urls: readonly URL[]): 'server' | 'cluster' | 'sentinel' {
  const [, suffix] = urls[0]?.protocol.slice(0, -1).split('+') ?? [];
  if (suffix === 'sentinel' || suffix === 'cluster') return suffix;
  return urls.length > 1 ? 'cluster' : 'server';
}

/**
 * Creates a client, which is not connected. One that could not connect must be destroyed, because it may try again by itself. This
 * file is imported when a connection is opened, so that a gateway without a fleet never loads the library.
 *
 * @param subscription the channel to which it subscribes when it is connected
 * @param onLost is called when the connection is lost. Clients of a cluster or of Sentinel connect again by themselves.
 */
export function createRedisClient(
  urls: readonly URL[],
  subscription: RedisSubscription,
  onLost: (error: unknown) => void,
): RedisClient {
  const [url] = urls;
  if (url === undefined) throw new Error('no URL of Redis');
  const bytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };
  const kind = kindOf(urls);

  if (kind === 'server') {
    const socket = { ...socketOf(url), reconnectStrategy: false as const };
    // With the third version of the protocol, a connection that is subscribed can also send commands.
    const client = createClient({ ...optionsOf(url), RESP: 3, database: Number(url.pathname.slice(1)), socket });
    client.on('error', onLost);
    return clientOf(client, subscription, (_key, args) => client.sendCommand(args, bytes));
  }

  if (kind === 'cluster') {
    const rootNodes = urls.map((each) => ({ ...optionsOf(each), socket: { ...socketOf(each), ...DISCOVERY } }));
    const defaults = { ...optionsOf(url), socket: transportOf(url) };
    const cluster = createCluster({ RESP: 2, rootNodes, defaults, minimizeConnections: true });
    return clientOf(cluster, subscription, (key, args) => cluster.sendCommand(key, false, [...args], bytes));
  }

  const [name = '', database = ''] = url.pathname.slice(1).split('/');
  const socket = transportOf(url);
  const sentinelOptions = urls.some(({ searchParams }) => searchParams.has('sentinel-auth')) ? optionsOf(url) : OPTIONS;
  const sentinel = createSentinel({
    RESP: 2,
    name: decodeURIComponent(name),
    sentinelRootNodes: urls.map((each) => socketOf(each, 26_379)),
    nodeClientOptions: { ...optionsOf(url), database: Number(database), socket },
    sentinelClientOptions: { ...sentinelOptions, pingInterval: 1_000, socket: { ...socket, ...DISCOVERY } },
    scanInterval: 1_000,
    // Attempts are a second apart. If all hosts refuse, it throws the error before the gateway stops waiting.
    maxCommandRediscovers: 1,
  });
  return clientOf(sentinel, subscription, (_key, args) => sentinel.sendCommand(false, [...args], bytes));
}

type Connectable = {
  on(event: 'error', listener: (error: unknown) => void): unknown;
  connect(): Promise<unknown>;
  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>;
  destroy(): unknown;
};

function clientOf(
  client: Connectable,
  { channel, onMessage }: RedisSubscription,
  send: RedisClient['send'],
): RedisClient {
  const destroy = async () => client.destroy();
  let reason: Error | undefined;
  client.on('error', (error) => {
    if (error instanceof Error) reason = error;
  });
  return {
    async connect() {
      try {
        await client.connect();
        await client.subscribe(channel, onMessage);
      } catch (error) {
        // If none of several hosts can be used, the error does not say why: each reason is emitted before, beside texts.
        const isWithoutReason = /^(All the root nodes|None of the sentinels) are/.test((error as Error).message);
        throw isWithoutReason ? (reason ?? error) : error;
      }
    },
    send,
    isReply: (error) => error instanceof ErrorReply,
    destroy: () => void destroy().catch(() => {}),
  };
}

/** The options with the credentials of a URL. */
function optionsOf({ username, password }: URL) {
  return {
    ...OPTIONS,
    ...(username !== '' && { username: decodeURIComponent(username) }),
    ...(password !== '' && { password: decodeURIComponent(password) }),
  };
}

const OPTIONS = {
  RESP: 2,
  disableOfflineQueue: true,
  commandsQueueMaxLength: MAX_PENDING_COMMANDS,
  disableClientInfo: true,
  maintNotifications: 'disabled',
} as const;

/** How a host is reached, whose name and port come from elsewhere. */
function transportOf({ protocol }: URL) {
  return { connectTimeout: CONNECT_TIMEOUT_MS, ...(protocol.startsWith('rediss') && { tls: true as const }) };
}

function socketOf(url: URL, usualPort = 6379) {
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || usualPort), ...transportOf(url) };
}
