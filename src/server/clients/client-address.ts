import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6, type Socket } from 'node:net';
import proxyAddr from 'proxy-addr';

/** What tells who asks, of a request or of what a websocket keeps of the one that opened it. */
export type Caller = Pick<IncomingMessage, 'headers' | 'socket'>;

/** The header in which proxies say whom they ask for. */
export const FORWARDED_FOR_HEADER = 'x-forwarded-for';

/** Knows who asks. */
export type ClientAddresses = {
  /**
   * One name for all addresses of a client: an IPv4 address, or the first 64 bits of an IPv6 address, because one line has
   * all the others. It stays the same after the connection is gone.
   */
  of(request: Caller): string;
  /** The same of what is connected, whatever it will say of itself. */
  ofConnection(socket: Socket): string;
  /** Whether what connects from an address is a proxy that asks for others. */
  isProxy(address: string | undefined): boolean;
};

/**
 * Makes what knows clients. What a request says of itself in `X-Forwarded-For` is believed as far as trusted proxies have
 * written it, from the nearest on; so nobody can pass for another.
 *
 * @param trustedProxies addresses and ranges
 */
export function createClientAddresses(trustedProxies: readonly string[]): ClientAddresses {
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  const isProxy = (address: string | undefined) => address !== undefined && isTrusted(address, 0);
  const connections = new WeakMap<Socket, Connection>();
  const throughProxies = new WeakMap<Caller, string>();

  /** Looked at once for all that is asked on it: when it is gone, it says nothing of itself any more. */
  function connectionOf(socket: Socket): Connection {
    const before = connections.get(socket);
    if (before !== undefined) return before;
    const { remoteAddress } = socket;
    const connection = { client: clientOf(remoteAddress) ?? UNKNOWN, isProxy: isProxy(remoteAddress) };
    connections.set(socket, connection);
    return connection;
  }

  function read(request: Caller): string {
    // What a trusted proxy wrote may still be no address, such as "unknown": then the proxy itself answers for it.
    const addresses = proxyAddr.all(request as IncomingMessage, isTrusted).map(clientOf);
    return addresses.findLast((address) => address !== undefined) ?? UNKNOWN;
  }

  return {
    of(request) {
      // Node takes the socket from a request whose body is too large, so that the connection survives to carry the answer.
      if ((request.socket as Socket | null) === null) return throughProxies.get(request) ?? UNKNOWN;
      const connection = connectionOf(request.socket);
      if (!connection.isProxy) return connection.client;
      const client = throughProxies.get(request) ?? read(request);
      throughProxies.set(request, client);
      return client;
    },
    ofConnection: (socket) => connectionOf(socket).client,
    isProxy,
  };
}

/** Who is connected, and whether it asks for others. */
type Connection = { readonly client: string; readonly isProxy: boolean };

/** The client of a connection that was gone before anyone looked, or that its request no longer names. */
const UNKNOWN = 'unknown';

/** The client that an address belongs to; some proxies write a port behind it. */
function clientOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, bracketed, withoutPort] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? [];
  const [address = ''] = (bracketed ?? withoutPort ?? text).split('%');
  if (isIP(address) === 0) return undefined;
  return isIPv6(address) ? networkOf(address) : address;
}

/** The first 64 bits of an IPv6 address, or the IPv4 address that it stands for. */
function networkOf(address: string): string {
  // A URL writes an address in one way only: lowercase, hexadecimal, without leading zeros.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  const [mapped, high = '0', low = '0'] = groups.slice(5);
  if (groups.slice(0, 5).every((group) => group === '0') && mapped === 'ffff') {
    return [high, low]
      .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
      .join('.');
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}
