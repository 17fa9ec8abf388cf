// Evaluated before undici, whose import replaces the dispatcher of `fetch` in the whole process.
import './global-dispatchers.ts';

import { Agent, type buildConnector, type Dispatcher } from 'undici';
import { ProxyError } from '../errors.ts';
import { credentialsOf } from './credentials.ts';
import { restoreGlobalDispatchers } from './global-dispatchers.ts';
import { connectThrough, type ProxySettings, proxyOf } from './proxies.ts';

restoreGlobalDispatchers();

type SentRequest = Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'headers'> & {
  readonly headers: Readonly<Record<string, string>>;
};

type AgentOptions = Omit<Agent.Options, 'connect'> & {
  readonly proxies: ProxySettings | undefined;
  /** Maximum time to open a connection. */
  readonly connectTimeoutMs: number;
};

/** Creates the connections to the hosts of one upstream; none is open yet. */
export function createAgent({ proxies, connectTimeoutMs, ...options }: AgentOptions) {
  const direct = new Agent({ ...options, connect: { timeout: connectTimeoutMs } });
  const proxied = new Agent({ ...options, connect: connectProxied });

  function connectProxied({ protocol, host }: buildConnector.Options, callback: buildConnector.Callback): void {
    const url = new URL(`${protocol}//${host}`);
    const proxy = proxyOf(url, proxies);
    if (proxy === undefined) {
      callback(new Error(`no proxy for ${url.origin}`), null);
      return;
    }
    connectThrough(proxy, url, connectTimeoutMs).then(
      (socket) => callback(null, socket),
      (error) => callback(error, null),
    );
  }

  /** Sends a request. @throws ProxyError if the proxy of the URL cannot be used */
  async function request(url: URL, sent: SentRequest): Promise<Dispatcher.ResponseData> {
    const proxy = proxyOf(url, proxies);
    const target = { origin: url.origin, path: url.pathname + url.search };
    if (proxy === undefined) return direct.request({ ...sent, ...target });
    if (url.protocol === 'https:') return proxied.request({ ...sent, ...target });

    // The proxy forwards it (RFC 9112, 3.2.2).
    const path = target.origin + target.path;
    const credentials = credentialsOf(proxy.url);
    const headers = { ...sent.headers, ...(credentials !== undefined && { 'proxy-authorization': credentials }) };
    const response: Dispatcher.ResponseData = await proxied.request({ ...sent, ...target, path, headers });
    if (response.statusCode !== PROXY_AUTHENTICATION_REQUIRED) return response;
    await response.body.dump();
    throw new ProxyError(proxy.variable, `responded with status ${PROXY_AUTHENTICATION_REQUIRED}`);
  }

  return {
    request,
    async destroy(): Promise<void> {
      await Promise.all([direct.destroy(), proxied.destroy()]);
    },
  };
}

/** Only a proxy responds with it (RFC 9110, 15.5.8). */
const PROXY_AUTHENTICATION_REQUIRED = 407;
