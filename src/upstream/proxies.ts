import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, isIP, isIPv4, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ProxyError } from '../errors.ts';
import { credentialsOf } from './credentials.ts';

/** The proxies of requests to other hosts, with the meanings of Node's `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`. */
export type ProxySettings = {
  readonly httpProxy: URL | undefined;
  readonly httpsProxy: URL | undefined;
  readonly noProxy: readonly string[];
};

/** The proxy of a request. */
type ForwardProxy = {
  readonly url: URL;
  /** The variable that names it, for messages: the URL can contain a password. */
  readonly variable: 'HTTP_PROXY' | 'HTTPS_PROXY';
};

/** The proxy of a URL with http, https, ws or wss; `undefined` if it is requested directly. */
export function proxyOf(url: URL, settings: ProxySettings | undefined): ForwardProxy | undefined {
  const proxy = isOverTls(url) ? settings?.httpsProxy : settings?.httpProxy;
  if (proxy === undefined || settings?.noProxy.some((entry) => matches(entry.toLowerCase(), url))) return undefined;
  return { url: proxy, variable: isOverTls(url) ? 'HTTPS_PROXY' : 'HTTP_PROXY' };
}

/** Whether an entry of `NO_PROXY` means a URL, after "Built-in Proxy Support" in Node's documentation of `node:http`. */
function matches(entry: string, url: URL): boolean {
  const host = hostOf(url);
  if (['*', host, url.hostname, addressOf(url)].includes(entry)) return true;
  // `.example.com` includes example.com, as in curl; `*.example.com` does not.
  if (entry.startsWith('.')) return `.${host}`.endsWith(entry);
  if (entry.startsWith('*.')) return host.endsWith(entry.slice(1));
  // Node does not know such a range. Other programs that read the variable do.
  const [, address = '', bits] = /^([\d.]+)\/(\d{1,2})$/.exec(entry) ?? [];
  if ([host, address].every(isIPv4)) return isInSubnet(host, address, Number(bits));
  const [first = '', last = ''] = entry.split('-').map((part) => part.trim());
  return [host, first, last].every(isIPv4) && toNumber(first) <= toNumber(host) && toNumber(host) <= toNumber(last);
}

function isInSubnet(host: string, address: string, bits: number): boolean {
  const size = 2 ** (32 - bits);
  return Math.floor(toNumber(host) / size) === Math.floor(toNumber(address) / size);
}

function toNumber(address: string): number {
  return address.split('.').reduce((number, byte) => number * 256 + Number(byte), 0);
}

function isOverTls({ protocol }: URL): boolean {
  return protocol === 'https:' || protocol === 'wss:';
}

/** The host name, or an address without the brackets of IPv6. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '');
}

function portOf(url: URL): number {
  return Number(url.port) || (isOverTls(url) ? 443 : 80);
}

function addressOf(url: URL): string {
  return `${url.hostname}:${portOf(url)}`;
}

/**
 * Opens a connection to a URL through its proxy. With `http:` it ends at the proxy, which forwards requests. With `https:`, and for
 * websockets also with `ws:` (RFC 6455, 4.1), it is a tunnel through the proxy (RFC 9110, 9.3.6).
 *
 * @param timeoutMs maximum time until the connection is open
 * @throws ProxyError if the proxy cannot be reached or refuses; the error of TLS if the host has no valid certificate
 */
export async function connectThrough(proxy: ForwardProxy, url: URL, timeoutMs: number): Promise<Socket> {
  const sockets: Socket[] = [];
  const deadline = setTimeout(() => {
    for (const socket of sockets) socket.destroy(new Error(`no connection within ${timeoutMs} ms`));
  }, timeoutMs);
  try {
    const toProxy = connectTo(proxy.url, sockets);
    await opened(toProxy, proxy.url).catch((error) => {
      throw new ProxyError(proxy.variable, 'cannot be reached', error);
    });
    if (url.protocol === 'http:') return toProxy;
    await openTunnel(proxy, toProxy, url);
    if (!isOverTls(url)) return toProxy;
    const socket = connectTo(url, sockets, toProxy);
    await opened(socket, url);
    return socket;
  } catch (error) {
    for (const socket of sockets) socket.destroy();
    throw error;
  } finally {
    clearTimeout(deadline);
  }
}

/** Starts to connect to the host of a URL, or to encrypt a connection to it. */
function connectTo(url: URL, opened: Socket[], socket?: Socket): Socket {
  const host = hostOf(url);
  const options = { host, port: portOf(url) };
  // TLS has no server name for an address.
  const servername = isIP(host) === 0 ? host : '';
  const connection = isOverTls(url)
    ? connectTls({ ...options, servername, ALPNProtocols: ['http/1.1'], ...(socket && { socket }) })
    : connect(options);
  opened.push(connection);
  // An error without a listener would end the process. The code that waits for the request gets it.
  return connection.on('error', () => {});
}

async function opened(socket: Socket, url: URL): Promise<void> {
  await once(socket, isOverTls(url) ? 'secureConnect' : 'connect');
}

/** Requests a tunnel to a host from the proxy. @throws ProxyError if it does not open one */
async function openTunnel({ url: proxy, variable }: ForwardProxy, socket: Socket, url: URL): Promise<void> {
  const target = addressOf(url);
  const credentials = credentialsOf(proxy);
  const tunnel = request({
    method: 'CONNECT',
    path: target,
    headers: { host: target, ...(credentials !== undefined && { 'proxy-authorization': credentials }) },
    createConnection: () => socket,
  });
  tunnel.end();
  const [{ statusCode = 0 }, , head] = (await once(tunnel, 'connect').catch((error) => {
    throw new ProxyError(variable, 'did not open a tunnel', error);
  })) as [IncomingMessage, Socket, Buffer];
  if (statusCode < 200 || statusCode > 299)
    throw new ProxyError(variable, `responded to CONNECT with status ${statusCode}`);
  socket.unshift(head);
}
