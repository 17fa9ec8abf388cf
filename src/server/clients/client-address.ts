import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6, type Socket, SocketAddress } from 'node:net';
import proxyAddr from 'proxy-addr';

/** The socket and headers that identify a client: of an HTTP request, or of the request that opened a websocket. */
export type ClientIdentity = Pick<IncomingMessage, 'headers' | 'socket'>;

/** The header in which proxies send the address of the client. */
export const FORWARDED_FOR_HEADER = 'x-forwarded-for';

/** Finds the addresses of clients. */
export type ClientAddresses = ReturnType<typeof createClientAddresses>;

/**
 * Creates the client addresses. `X-Forwarded-For` is trusted only as far as trusted proxies (addresses and ranges) have written
 * it, from the nearest one on, so that no client can pretend to have another address.
 */
export function createClientAddresses(trustedProxies: readonly string[]) {
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  const isProxy = (address: string | undefined) => address !== undefined && isTrusted(address, 0);
  const connections = new WeakMap<Socket, Connection>();
  const throughProxies = new WeakMap<ClientIdentity, string>();

  /** Reads the address once for each connection, because a closed socket no longer has one. */
  function connectionOf(socket: Socket): Connection {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const { remoteAddress } = socket;
    const connection = { client: clientOf(remoteAddress) ?? UNKNOWN, isProxy: isProxy(remoteAddress) };
    connections.set(socket, connection);
    return connection;
  }

  function read(request: ClientIdentity): string {
    // A trusted proxy may write something else than an address, such as "unknown". The client is then the proxy.
    const addresses = proxyAddr.all(request as IncomingMessage, isTrusted).map(clientOf);
    return addresses.findLast((address) => address !== undefined) ?? UNKNOWN;
  }

  return {
    /**
     * The client of a request: its IPv4 address, or the first 64 bits of its IPv6 address, because one subscriber line usually
     * has a whole /64 network. The result stays the same after the connection is closed.
     */
    of(request: ClientIdentity): string {
      const connection = connectionOf(request.socket);
      if (!connection.isProxy) return connection.client;
      const client = throughProxies.get(request) ?? read(request);
      throughProxies.set(request, client);
      return client;
    },
    /** The peer of a connection, without regard to headers. */
    ofConnection: (socket: Socket) => connectionOf(socket).client,
    isProxy,
  };
}

type Connection = { readonly client: string; readonly isProxy: boolean };

/** The client of a connection that was closed before its address was read. */
const UNKNOWN = 'unknown';

/** The client of an address; some proxies append a port to it. */
function clientOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, bracketed, withoutPort] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? [];
  const [address = ''] = (bracketed ?? withoutPort ?? text).split('%');
  if (isIP(address) === 0) return undefined;
  return isIPv6(address) ? networkOf(address) : address;
}

/** The first 64 bits of an IPv6 address, or the IPv4 address that is mapped to it. */
function networkOf(address: string): string {
  const { address: canonical } = new SocketAddress({ address, family: 'ipv6' });
  const [, mapped] = /^::ffff:([\d.]+)$/.exec(canonical) ?? [];
  if (mapped !== undefined) return mapped;
  const [head = [], tail = []] = canonical.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
