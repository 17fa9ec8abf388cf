import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Agent, type Dispatcher, request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { LIMITS } from '../../src/graphql/limits.ts';
import type { ExplorerFiles } from '../../src/server/pages/explorer-files.ts';
import { createFile } from '../../src/server/pages/file-response.ts';
import { type Config, SETTINGS } from '../../src/settings/settings.ts';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { readEvents } from '../support/events.ts';
import { sumOf } from '../support/metrics.ts';
import { inFolder, NGINX, startNginx } from '../support/nginx.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';
import { connect, take } from '../support/websocket.ts';

const config = readFileSync(join(import.meta.dirname, '../../deploy/nginx.conf'), 'utf8');

/** The configuration with other addresses, of nginx and of the gateways. */
function configAt(listen: string, gateways: readonly string[], text = config): string {
  let n = 0;
  return text.replace('listen 80;', `listen ${listen};`).replace(/gateway-\d:4000/g, () => String(gateways[n++]));
}

/** A file of the explorer, which is not compressed. */
const FILE = createFile('text/javascript', { identity: Buffer.from('0') }, { isImmutable: true });

/** Files of the explorer whose paths are well known, or in the page. */
const PUBLIC_FILES = readdirSync(join(import.meta.dirname, '../../explorer/public')).map((name) => `/${name}`);

/** An explorer of a few files. */
const EXPLORER: ExplorerFiles = {
  page: 'the page',
  assets: new Map(['/assets/a-12345678.js', ...PUBLIC_FILES].map((path) => [path, FILE])),
};

/** Two gateways with nginx in front, each with a sandbox of its own. @param ofSecond settings of the second gateway alone */
async function open(text = config, ofSecond: Partial<Config> = {}) {
  const settings = { trustedProxies: ['loopback'], accessLog: 'all', marketPollMs: 60_000 } as const;
  const options = { config: settings, explorer: EXPLORER };
  const gateways = await Promise.all([
    serveGatewayForTest(options),
    serveGatewayForTest({ ...options, config: { ...settings, ...ofSecond } }),
  ]);
  await Promise.all(gateways.map((gateway) => gateway.untilReady()));
  const hosts = gateways.map(({ url }) => new URL(url).host);
  const url = await startNginx((port) => configAt(`127.0.0.1:${port}`, hosts, text));

  /** Sends a request from an address of this machine. */
  async function send(address: string, path: string, options: Partial<Dispatcher.RequestOptions> = {}) {
    const dispatcher = new Agent({ localAddress: address });
    onTestFinished(() => dispatcher.destroy());
    const { statusCode, headers, body } = await request(`${url}${path}`, { ...options, dispatcher } as Parameters<
      typeof request
    >[1]);
    return { status: statusCode, headers, body };
  }

  async function ask(address: string, query: string) {
    const headers = { 'content-type': 'application/json' };
    const { status, body } = await send(address, '/graphql', {
      method: 'POST',
      headers,
      body: JSON.stringify({ query }),
    });
    return { status, answer: await body.json() };
  }

  /** The number of GraphQL requests that each gateway has answered. */
  const answered = () =>
    Promise.all(
      gateways.map(async (gateway) => {
        const text = await (await fetch(new URL('/metrics', gateway.url))).text();
        return sumOf(text, 'pdex_http_requests_total', { endpoint: 'graphql' });
      }),
    );
  return { gateways, url, send, ask, answered };
}

// Without nginx these tests are skipped, and one without openssl. CI installs both, and fails if they are skipped.
test.runIf(process.env['CI'])('CI has nginx and openssl', () => {
  expect([existsSync(NGINX), hasOpenssl]).toEqual([true, true]);
});

describe.skipIf(!existsSync(NGINX))('nginx.conf', () => {
  test('passes on updates at once, by websocket and by event stream', async () => {
    const { gateways, url, send } = await open();
    const advance = () => {
      for (const { sandbox } of gateways) sandbox.advance();
    };
    const query = 'subscription { head { beaconHeight } }';
    const { height } = gateways[0]?.sandbox.chain.tip ?? { height: 0 };
    const updates = [height, height + 1].map((beaconHeight) => ({ data: { head: { beaconHeight } } }));
    expect(await take(connect(`${url}/graphql`), query, 2, advance)).toEqual(updates);

    const accept = 'text/event-stream';
    const { headers, body } = await send('127.0.0.1', `/graphql?${new URLSearchParams({ query })}`, {
      method: 'GET',
      headers: { accept, 'accept-encoding': 'gzip' },
    });
    expect(headers['content-type']).toContain(accept);
    const events = readEvents({ body });
    const first = (await events.next()).value?.data as { head: { beaconHeight: number } };
    advance();
    expect((await events.next()).value).toEqual({ data: { head: { beaconHeight: first.head.beaconHeight + 1 } } });
    await events.return(undefined);
  });

  test('passes on the address of the client, and keeps each client at one gateway', async () => {
    const { gateways, send, ask, answered } = await open();
    for (let n = 0; n < 5; n++) expect(await ask('127.0.0.2', '{ __typename }')).toMatchObject({ status: 200 });
    expect((await answered()).toSorted()).toEqual([0, 5]);
    const lines = gateways.flatMap(({ lines }) => lines.filter(({ client }) => client === '127.0.0.2'));
    expect(lines).toHaveLength(5);

    // A client with an address that the gateways trust, such as a private one, cannot name another.
    const headers = { 'x-forwarded-for': '203.0.113.7' };
    const { body } = await send('127.0.0.2', '/graphql?query={__typename}', { method: 'GET', headers });
    await body.dump();
    const clients = () => gateways.flatMap(({ lines }) => lines.flatMap(({ client }) => client ?? []));
    const others = () => clients().filter((client) => client !== '127.0.0.1');
    await expect.poll(others).toEqual(Array(6).fill('127.0.0.2'));

    for (let n = 3; n < 40; n++) await ask(`127.0.0.${n}`, '{ __typename }');
    expect((await answered()).filter((count) => count < 6)).toEqual([]);
  });

  test('with the line for fleets, requests go to all gateways in turn, and websockets to the one with fewer of them', async () => {
    const even = config.replace('hash $binary_remote_addr consistent;', '').replace('#even ', '');
    const { gateways, url, ask, answered } = await open(even);
    for (let n = 0; n < 10; n++) expect(await ask('127.0.0.2', '{ __typename }')).toMatchObject({ status: 200 });
    expect(await answered()).toEqual([5, 5]);
    const query = 'subscription { head { beaconHeight } }';
    const clients = Array.from({ length: 4 }, () => connect(`${url}/graphql`));
    const updates = clients.map((client) => client.iterate({ query }));
    await Promise.all(updates.map((each) => each.next()));
    expect(gateways.map(({ app }) => app.service.sources.head.subscribers())).toEqual([2, 2]);
    await Promise.all(updates.map((each) => each.return?.()));
  });

  test.each(['is gone', 'breaks its connections'])(
    'if one gateway %s, the other one gets the requests',
    async (fault) => {
      const { gateways, ask } = await open();
      await gateways[0]?.app.close();
      if (fault === 'breaks its connections') {
        const broken = createServer((socket) => socket.once('data', () => socket.destroy()));
        onTestFinished(() => void broken.close());
        await once(broken.listen(Number(new URL(gateways[0]?.url ?? '').port), '127.0.0.1'), 'listening');
      }
      for (let n = 2; n < 20; n++) {
        const answer = { data: { __typename: 'Query' } };
        expect(await ask(`127.0.0.${n}`, '{ __typename }')).toEqual({ status: 200, answer });
      }
    },
  );

  // docs/fleet.md#upgrading. nginx notices that a gateway is back while the other one still serves: during STOP_WINDOW_MS.
  test('gateways can restart one directly after the other: no request fails', async () => {
    const { gateways, ask } = await open(config, { stopWindowMs: Number(SETTINGS.stopWindowMs.default) });
    const askAll = async () => {
      for (let n = 2; n < 20; n++) expect(await ask(`127.0.0.${n}`, '{ __typename }')).toMatchObject({ status: 200 });
    };
    await askAll();
    await gateways[0]?.app.close();
    await askAll();
    await (await gateways[0]?.replace(0))?.untilReady();
    await gateways[1]?.app.close();
    await askAll();
  });

  // RFC 9110, 7.8: a server may ignore it. undici does not send the header.
  test.each(['h2c', 'websocket'])('a request with an Upgrade to %s is answered as one without it', async (upgrade) => {
    const { url, gateways } = await open();
    const send = async (path: string, method: string, body: string) => {
      const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade, 'content-type': 'application/json' };
      const sent = httpRequest(url + path, { method, headers });
      const [[response]] = await Promise.all([once(sent, 'response'), sent.end(body)]);
      return [response.statusCode, (await response.toArray()).join('')];
    };
    const schema = await (await fetch(`${url}/schema.graphql`)).text();
    expect(await send('/schema.graphql', 'GET', '')).toEqual([200, schema]);
    const heights = gateways.map(({ sandbox }) => `{"data":{"beaconHeight":${sandbox.chain.tip.height}}}`);
    const [status, answer] = await send('/graphql', 'POST', '{"query":"{beaconHeight}"}');
    expect([status, heights]).toEqual([200, expect.arrayContaining([answer])]);
  });

  test('serves what is for clients, compressed, also to its own pages, and limits bodies as the gateway does', async () => {
    const { url, send, ask } = await open();
    const statusOf = async (path: string) => {
      const { status, body } = await send('127.0.0.1', path, { method: 'GET' });
      await body.dump();
      return [path, status];
    };
    for (const path of [
      ...['/', '/schema.graphql', '/graphql?query={__typename}', '/graphql/?query={__typename}', '/openapi.json'],
      `/graphql?query={__typename}&long=${'x'.repeat(15_800)}`,
      '//graphql?query={__typename}',
      ...['pairs', 'tickers/', 'orderbook?ticker_id=pBTC_PRV'].map((name) => `/api/v1/public/market-data/${name}`),
    ])
      expect(await statusOf(path)).toEqual([path, 200]);
    // These gateways have no history. Their errors are JSON.
    for (const name of ['candles', 'historical_trades']) {
      const path = `/api/v1/public/market-data/${name}?ticker_id=pBTC_PRV&interval=1h`;
      const { headers, body } = await send('127.0.0.1', path, { method: 'GET' });
      await body.dump();
      expect([name, headers['content-type']]).toEqual([name, 'application/json']);
    }
    // nginx decodes the path before it compares it, and passes it on as it was.
    for (const path of [
      ...['/chain', '/tokens/', '/status?x=1', '/market/a%2Fb', '/pool/a-b-1', '/assets/a-12345678.js'],
      ...['/chain/blocks', '/chain/blocks/1640000', ...PUBLIC_FILES],
    ])
      expect(await statusOf(path)).toEqual([path, 200]);
    for (const path of ['/metrics', '/health', '/ready', '/graphql/x', '/metrics?/graphql', '//metrics'])
      expect(await statusOf(path)).toEqual([path, 404]);

    const { headers, body } = await send('127.0.0.1', '/schema.graphql', {
      method: 'GET',
      headers: { 'accept-encoding': 'gzip' },
    });
    await body.dump();
    expect(headers['content-encoding']).toBe('gzip');

    expect(/client_max_body_size (\d+)k;/.exec(config)?.[1]).toBe(String(LIMITS.maxBodyBytes.default / 1_024));
    const { status } = await send('127.0.0.1', '/graphql?query={__typename}', {
      method: 'GET',
      headers: { origin: url },
    });
    expect(status).toBe(200);

    const padding = ' '.repeat(LIMITS.maxBodyBytes.default - 100);
    expect(await ask('127.0.0.1', `{ __typename }${padding}`)).toMatchObject({ status: 200 });
  });

  test.skipIf(!hasOpenssl)('is also valid with the lines for TLS', () => {
    const { folder } = makeCertificate('DNS:localhost');
    const withTls = configAt('127.0.0.1:80', ['127.0.0.1:4000', '127.0.0.1:4001'])
      .replaceAll('#tls ', '')
      .replaceAll('/etc/nginx/tls', folder);
    expect(withTls).toContain('listen 443 ssl;');
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, inFolder(withTls, folder));
    expect(() =>
      execFileSync(NGINX, ['-t', '-q', '-e', 'stderr', '-p', folder, '-c', file, '-g', `pid ${folder}/pid;`], {
        stdio: 'pipe',
      }),
    ).not.toThrow();
  });
});
