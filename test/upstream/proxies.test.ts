import { describe, expect, onTestFinished, test } from 'vitest';
import { UpstreamError } from '../../src/errors.ts';
import { createBlockPush } from '../../src/upstream/node/block-push.ts';
import { type ProxySettings, proxyOf } from '../../src/upstream/proxies.ts';
import { fixedSandbox } from '../sandbox/support.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { httpForTest, textReader } from './connect.ts';
import { failureOf } from './failure.ts';
import { bytesOf, startRawServer } from './raw-server.ts';

const ONE = { httpProxy: new URL('http://proxy:3128'), httpsProxy: new URL('https://tls-proxy'), noProxy: [] };

describe('the proxy of a URL', () => {
  test.each([
    ['http://node.example', 'HTTP_PROXY'],
    ['ws://node.example', 'HTTP_PROXY'],
    ['https://node.example', 'HTTPS_PROXY'],
    ['wss://node.example', 'HTTPS_PROXY'],
  ])('%s is that of %s', (url, variable) => {
    const proxy = variable === 'HTTP_PROXY' ? ONE.httpProxy : ONE.httpsProxy;
    expect(proxyOf(new URL(url), ONE)).toEqual({ url: proxy, variable });
    expect(proxyOf(new URL(url), { ...ONE, httpProxy: undefined, httpsProxy: undefined })).toBeUndefined();
    expect(proxyOf(new URL(url), undefined)).toBeUndefined();
  });

  // "Built-in Proxy Support", "NO_PROXY Format" in Node's documentation of `node:http`.
  test.each<[entry: string, direct: readonly string[], proxied: readonly string[]]>([
    ['*', ['http://any.example', 'https://10.0.0.1'], []],
    [
      'example.com',
      ['http://example.com', 'http://EXAMPLE.com:8080'],
      ['http://a.example.com', 'http://badexample.com'],
    ],
    ['Example.COM', ['http://example.com'], []],
    [
      '.example.com',
      ['http://a.example.com', 'http://b.a.example.com', 'http://example.com'],
      ['http://badexample.com'],
    ],
    ['*.example.com', ['http://a.example.com'], ['http://example.com', 'http://badexample.com']],
    ['192.168.1.100', ['http://192.168.1.100:9334'], ['http://192.168.1.101']],
    [
      '192.168.1.9-192.168.2.10',
      ['http://192.168.1.9', 'ws://192.168.2.10', 'http://192.168.1.255'],
      ['http://192.168.1.8'],
    ],
    ['192.168.1.9-192.168.2.10', [], ['http://192.168.2.11', 'http://host.example']],
    ['10.0.0.0/8', ['http://10.255.0.1', 'wss://10.0.0.0'], ['http://11.0.0.0', 'http://host.example', 'http://[::1]']],
    ['192.168.1.9/30', ['http://192.168.1.8', 'http://192.168.1.11'], ['http://192.168.1.7', 'http://192.168.1.12']],
    ['0.0.0.0/0', ['http://192.168.1.8'], ['http://host.example']],
    ['10.0.0.0/', [], ['http://10.0.0.0']],
    ['example.com:8080', ['http://example.com:8080'], ['http://example.com', 'http://example.com:9334']],
    ['example.com:443', ['https://example.com', 'wss://example.com'], ['http://example.com']],
    ['::1', ['http://[::1]:9334'], ['http://[::2]']],
    ['[::1]:9334', ['http://[::1]:9334'], ['http://[::1]']],
    ['host-a', ['http://host-a'], ['http://host']],
    // Only the settings say so: loopback addresses are no exception.
    ['', [], ['http://127.0.0.1', 'http://localhost']],
  ])('is not used for what NO_PROXY=%s means', (entry, direct, proxied) => {
    const settings = { ...ONE, noProxy: ['other.example', entry] };
    expect(direct.filter((url) => proxyOf(new URL(url), settings) !== undefined)).toEqual([]);
    expect(proxied.filter((url) => proxyOf(new URL(url), settings) === undefined)).toEqual([]);
  });
});

function clientThrough(proxies: Partial<ProxySettings>, timeoutMs = 10_000) {
  const none = { httpProxy: undefined, httpsProxy: undefined, noProxy: [] };
  const { request } = httpForTest('NODE', { timeoutMs, proxies: { ...none, ...proxies } });
  return (url: string) => request({ url: new URL(url) }, textReader());
}

function withUser(url: URL): URL {
  return new URL(url.href.replace('//', '//some%40one:s3cr%3At@'));
}

describe('a request through a proxy', () => {
  test('is sent to it in absolute form, with the credentials of the proxy, which the host does not get', async () => {
    const { url, requests } = await startRawServer((socket) => socket.end(bytesOf('{}')));
    const proxy = await startForwardProxy({ hosts: { 'node.example:9334': url.host }, credentials: 'some@one:s3cr:t' });
    const ask = clientThrough({ httpProxy: withUser(proxy.url) });
    expect(await ask('http://user:password@node.example:9334/a?b=c#d')).toBe('{}');
    // RFC 9112, 3.2.2: the target has the absolute form, and Host is that of the target.
    expect(proxy.asked).toEqual(['GET http://node.example:9334/a?b=c']);
    expect(proxy.headers).toEqual([expect.objectContaining({ host: 'node.example:9334' })]);
    expect(requests[0]).toContain(`authorization: Basic ${Buffer.from('user:password').toString('base64')}\r\n`);
    expect(requests[0]).not.toContain('proxy-authorization');
  });

  test('is sent directly to a host of NO_PROXY', async () => {
    const { url } = await startRawServer((socket) => socket.end(bytesOf('{}')));
    const proxy = await startForwardProxy();
    expect(await clientThrough({ httpProxy: proxy.url, noProxy: [url.host] })(url.href)).toBe('{}');
    expect(proxy.asked).toEqual([]);
  });

  test('that is pending ends when the client is closed', async () => {
    const { url, requests } = await startRawServer(() => {});
    const { request, close } = httpForTest('NODE', { proxies: { ...ONE, httpProxy: (await startForwardProxy()).url } });
    const asked = failureOf(request({ url }, textReader()));
    await expect.poll(() => requests.length).toBe(1);
    await close();
    expect(await asked).toMatchObject({ code: 'UPSTREAM_UNREACHABLE' });
  });
});

/** The failure of a request, with what only the log has of it. */
async function failureThrough(proxies: Partial<ProxySettings>, url: string, timeoutMs?: number) {
  const { promise, resolve } = Promise.withResolvers<UpstreamError>();
  const failure = await failureOf(
    clientThrough(
      proxies,
      timeoutMs,
    )(url).catch((error) => {
      resolve(error);
      throw error;
    }),
  );
  return { failure, details: (await promise).details };
}

function unreachable(problem: string) {
  return {
    code: 'UPSTREAM_UNREACHABLE',
    retryable: true,
    message: `The node cannot be reached: the proxy of ${problem}.`,
    extensions: { upstream: 'NODE' },
  };
}

describe('a proxy that fails', () => {
  test('because it does not know the user is an error that names the variable and not the password', async () => {
    const { url } = await startForwardProxy({ credentials: 'another:password' });
    const [httpProxy, httpsProxy] = [withUser(url), withUser(url)];
    const details = { host: 'node.example', proxy: url.host };
    // RFC 9110, 15.5.8
    expect(await failureThrough({ httpProxy }, 'http://node.example')).toEqual({
      failure: unreachable('HTTP_PROXY responded with status 407'),
      details,
    });
    expect(await failureThrough({ httpsProxy }, 'https://node.example')).toEqual({
      failure: unreachable('HTTPS_PROXY responded to CONNECT with status 407'),
      details,
    });
  });

  test('because it cannot reach the host is an error with its status', async () => {
    const { url } = await startForwardProxy({ refusesTunnels: 502 });
    // RFC 9110, 9.3.6: any response other than 2xx means that there is no tunnel.
    expect(await failureThrough({ httpsProxy: url }, 'https://node.example')).toMatchObject({
      failure: unreachable('HTTPS_PROXY responded to CONNECT with status 502'),
    });
    expect(await failureThrough({ httpProxy: url }, 'http://127.0.0.1:1')).toEqual({
      failure: expect.objectContaining({
        code: 'UPSTREAM_BAD_STATUS',
        message: 'The node responded with HTTP status 502.',
      }),
      details: { host: '127.0.0.1:1', proxy: url.host, body: 'no such host', path: '/' },
    });
  });

  test('because it is down is an error that names the variable', async () => {
    const url = withUser(new URL('http://127.0.0.1:1'));
    for (const [variable, target] of [
      ['HTTP_PROXY', 'http://a'],
      ['HTTPS_PROXY', 'https://a'],
    ] as const) {
      expect(await failureThrough({ httpProxy: url, httpsProxy: url }, target)).toEqual({
        failure: unreachable(`${variable} cannot be reached`),
        details: { host: 'a', proxy: '127.0.0.1:1' },
      });
    }
  });

  test('because it closes the connection or speaks another protocol is an error that names the variable', async () => {
    const closing = await startRawServer((socket) => socket.end());
    const other = await startRawServer((socket) => socket.end('220 mail.example\r\n'));
    for (const { url } of [closing, other]) {
      expect(await failureThrough({ httpsProxy: url }, 'https://node.example')).toMatchObject({
        failure: unreachable('HTTPS_PROXY did not open a tunnel'),
      });
    }
  });

  test('because it does not respond, or the host behind it does not, is a timeout', async () => {
    const silent = await startRawServer(() => {});
    const tunnel = await startForwardProxy({ hosts: { 'node.example:443': silent.url.host } });
    for (const { url } of [silent, tunnel])
      expect(await failureThrough({ httpsProxy: url }, 'https://node.example', 60)).toEqual({
        failure: {
          code: 'UPSTREAM_TIMEOUT',
          retryable: true,
          message: 'The node did not respond within 60 ms.',
          extensions: { upstream: 'NODE' },
        },
        details: { host: 'node.example', proxy: url.host },
      });
  });
});

describe('a websocket of a node', () => {
  function pushThrough(url: string, proxies: Partial<ProxySettings>) {
    const notified: string[] = [];
    const heights: number[] = [];
    const push = createBlockPush({
      name: 'node',
      url: new URL(url),
      headers: {},
      proxies: { httpProxy: undefined, httpsProxy: undefined, noProxy: [], ...proxies },
      timeoutMs: 5_000,
      onBlock: ({ height }) => heights.push(height),
      onChange() {},
      watcher: {
        failed: (error) => notified.push(error instanceof UpstreamError ? error.message : String(error)),
        pushing: () => notified.push('pushing'),
      },
    });
    onTestFinished(push.close);
    return { push, notified, heights };
  }

  test('goes through a tunnel, also without TLS', async () => {
    const sandbox = await fixedSandbox({ history: 5 });
    onTestFinished(sandbox.close);
    const { host } = new URL(sandbox.pushUrl);
    const proxy = await startForwardProxy({ hosts: { 'node.example:80': host }, credentials: 'some@one:s3cr:t' });
    const { push, heights } = pushThrough('ws://node.example/path', { httpProxy: withUser(proxy.url) });
    await expect.poll(sandbox.push.subscribers).toBe(1);
    // RFC 6455, 4.1: the client asks the proxy to open a connection to the host.
    expect(proxy.asked).toEqual(['CONNECT node.example:80']);
    expect(sandbox.push.upgrades[0]?.headers).toMatchObject({ host: 'node.example' });
    expect(sandbox.push.upgrades[0]?.headers).not.toHaveProperty('proxy-authorization');
    sandbox.advance();
    await expect.poll(() => heights.length).toBe(1);
    await push.close();
    expect([sandbox.push.calls('unsubscribe'), sandbox.push.leaked()]).toEqual([1, 0]);
  });

  test('whose proxy fails is opened again later, and the error names the variable', async () => {
    const { url } = await startForwardProxy({ refusesTunnels: 403 });
    const { notified } = pushThrough('ws://node.example:9335', { httpProxy: url });
    const down = pushThrough('wss://node.example', { httpsProxy: new URL('http://127.0.0.1:1') });
    await expect
      .poll(() => [...notified, ...down.notified])
      .toEqual([
        'The node cannot be reached: the proxy of HTTP_PROXY responded to CONNECT with status 403.',
        'The node cannot be reached: the proxy of HTTPS_PROXY cannot be reached.',
      ]);
  });

  test('can be closed while its proxy does not respond', async () => {
    const silent = await startRawServer(() => {});
    const { push, notified } = pushThrough('ws://node.example', { httpProxy: silent.url });
    await expect.poll(() => silent.requests.length).toBe(1);
    await push.close();
    expect(notified).toEqual([]);
  });
});
