import { createClient, createCluster, createSentinel, ErrorReply, RESP_TYPES, type RedisArgument } from '@redis/client';

/** What Redis replies with. Texts are bytes, because values of the fleet are binary. */
export type RedisReply = Buffer | string | number | null | readonly RedisReply[];

/** A connected client of the library, of one server, of a cluster, or of what Sentinel watches. */
export type RedisClient = {
  /** Sends a command. In a cluster, the key decides about the server. @throws an error of the library */
  send(key: string, args: readonly RedisArgument[]): Promise<RedisReply>;
  /** Whether an error is a reply of Redis, and not of the connection. */
  isReply(error: unknown): boolean;
  /** Closes the connection. Pending commands fail. */
  destroy(): void;
};

/** A channel, and what is called with each message of it. */
type RedisSubscription = { readonly channel: string; readonly onMessage: (message: string) => void };

const CONNECT_TIMEOUT_MS = 2_000;

/** Commands that wait for a reply. More of them fail at once. */
const MAX_PENDING_COMMANDS = 10_000;

/** How the URLs name Redis: several are the nodes of a cluster. */
export function kindOf(urls: readonly URL[]): 'server' | 'cluster' | 'sentinel' {
  const [, suffix] = urls[0]?.protocol.slice(0, -1).split('+') ?? [];
  if (suffix === 'sentinel' || suffix === 'cluster') return suffix;
  return urls.length > 1 ? 'cluster' : 'server';
}

/**
 * Connects to Redis, and subscribes to a channel. This file is imported when a connection is opened, so that a gateway without a fleet never loads the
 * library.
 *
 * @param onLost is called when the connection is lost. Clients of a cluster or of Sentinel connect again by themselves.
 * @throws an error of the library
 */
export async function openRedisClient(
  urls: readonly URL[],
  subscription: RedisSubscription,
  onLost: (error: unknown) => void,
): Promise<RedisClient> {
  const [url] = urls;
  if (url === undefined) throw new Error('no URL of Redis');
  const bytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };
  const kind = kindOf(urls);

  if (kind === 'server') {
    const socket = { ...socketOf(url), reconnectStrategy: false as const };
    // With the third version of the protocol, a connection that is subscribed can also send commands.
    const client = createClient({ ...optionsOf(url), RESP: 3, database: Number(url.pathname.slice(1)), socket });
    client.on('error', onLost);
    return connected(client, subscription, (_key, args) => client.sendCommand(args, bytes));
  }

  if (kind === 'cluster') {
    const rootNodes = urls.map((each) => ({ ...optionsOf(each), socket: socketOf(each) }));
    const defaults = { ...optionsOf(url), socket: transportOf(url) };
    const cluster = createCluster({ RESP: 2, rootNodes, defaults, minimizeConnections: true });
    cluster.on('error', () => {});
    return connected(cluster, subscription, (key, args) => cluster.sendCommand(key, false, [...args], bytes));
  }

  const [name = '', database = ''] = url.pathname.slice(1).split('/');
  const socket = transportOf(url);
  const sentinel = createSentinel({
    RESP: 2,
    name: decodeURIComponent(name),
    sentinelRootNodes: urls.map((each) => ({ host: each.hostname, port: Number(each.port || SENTINEL_PORT) })),
    nodeClientOptions: { ...optionsOf(url), database: Number(database), socket },
    sentinelClientOptions: { ...(url.searchParams.has('sentinel-auth') ? optionsOf(url) : OPTIONS), socket },
    scanInterval: 1_000,
  });
  sentinel.on('error', () => {});
  return connected(sentinel, subscription, (_key, args) => sentinel.sendCommand(false, [...args], bytes));
}

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;

type Connectable = {
  connect(): Promise<unknown>;
  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>;
  destroy(): unknown;
};

/** A client that cannot connect is destroyed, because it would try again by itself. */
async function connected(
  client: Connectable,
  { channel, onMessage }: RedisSubscription,
  send: RedisClient['send'],
): Promise<RedisClient> {
  const destroy = async () => client.destroy();
  try {
    await client.connect();
    await client.subscribe(channel, onMessage);
  } catch (error) {
    await destroy().catch(() => {});
    throw error;
  }
  return { send, isReply: (error) => error instanceof ErrorReply, destroy: () => void destroy().catch(() => {}) };
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

function socketOf(url: URL) {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return { host, port: Number(url.port || REDIS_PORT), ...transportOf(url) };
}
