import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get as httpGet, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PATHS } from '../../../explorer/src/app/paths.ts';
import {
  type ExplorerFiles,
  PAGE_PATHS,
  readExplorer,
  readExplorerFiles,
} from '../../../src/server/pages/explorer-files.ts';
import { createFile } from '../../../src/server/pages/file-response.ts';
import { readConfig } from '../../../src/settings/read-config.ts';
import type { Config } from '../../../src/settings/settings.ts';
import { createStoreModel } from '../../history/store-model.ts';
import { hasBrowser, newPage } from '../../support/browser.ts';
import { startGateway, startGatewayForTest, type TestGateway, type TestGatewayOptions } from '../../support/gateway.ts';
import { createKeptLog } from '../../support/log.ts';
import { sample } from '../../support/metrics.ts';
import { freePort } from '../../support/ports.ts';

/** What a browser sends when it opens a page of this machine, or over HTTPS. */
const NAVIGATION = { accept: '*/*', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

/** What it sends to another host without HTTPS. */
const PLAIN_NAVIGATION = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

const PAGE = '<!doctype html><title>The explorer</title><script type="module" src="/assets/main-abc123.js"></script>';
const SCRIPT = `console.log("${'x'.repeat(2_000)}");`;

/** The explorer as its build writes it. */
const BUILT: Readonly<Record<string, string>> = {
  'index.html': PAGE,
  'robots.txt': 'User-agent: *',
  'favicon.ico': 'an icon',
  'manifest.webmanifest': '{}',
  'assets/main-abc123.js': SCRIPT,
  'assets/main-def456.css': 'body { margin: 0; }',
  'assets/icon-abc456.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'assets/font-abc789.woff2': 'a font',
};

const folder = mkdtempSync(join(tmpdir(), 'pdex-explorer-'));
let files: ExplorerFiles;
let gateway: TestGateway & { close(): Promise<void> };
let origin: string;

beforeAll(async () => {
  for (const [name, text] of Object.entries(BUILT)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    if (name.endsWith('.woff2')) continue;
    writeFileSync(`${path}.br`, brotliCompressSync(text));
    writeFileSync(`${path}.gz`, gzipSync(text));
  }
  const read = await readExplorerFiles(pathToFileURL(`${folder}/`));
  if (read === undefined) throw new Error('there is no page');
  files = read;
  gateway = await startGateway({ explorer: files });
  origin = new URL(await gateway.app.listen(0, '127.0.0.1')).origin;
});

afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

type Headers = Readonly<Record<string, string>>;

/** Node's own fetch would send the `Sec-Fetch` headers of a script. */
async function get(path: string, headers: Headers = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET') {
  const { statusCode: status, headers: sent, body } = await request(origin + path, { method, headers });
  const bytes = Buffer.from(await body.arrayBuffer());
  return { status, sent, type: sent['content-type'], text: String(bytes), bytes };
}

async function open(options: TestGatewayOptions) {
  const { app } = await startGatewayForTest(options);
  return new URL(await app.listen(0, '127.0.0.1')).origin;
}

describe('the page of the explorer', () => {
  test('is at the paths that its router has', () => {
    expect(PAGE_PATHS).toEqual(Object.values(PATHS));
  });

  test.each<Headers>([NAVIGATION, PLAIN_NAVIGATION])('is what a browser gets at `/`, with %j', async (headers) => {
    const { status, type, text } = await get('/?sort=price', headers);
    expect([status, type, text]).toEqual([200, 'text/html; charset=utf-8', PAGE]);
  });

  test('is not what a program gets at `/`', async () => {
    const json = await get('/');
    expect([json.type, JSON.parse(json.text).links.explorer]).toEqual(['application/json', '/']);
    expect((await get('/', {}, 'POST')).status).toBe(405);
  });

  test.each([
    ...['/chain', '/tokens', '/status', '/market/pBTC_PRV', '/pool/a-b-1', '/market/a%2Fb', '/chain/'],
    ...['/chain/blocks', '/chain/blocks/1640000'],
    ...['/status?x=/graphql', '/market/..%2f..%2fpackage.json'],
  ])('is the response to %s, by GET and HEAD, whoever requests it', async (path) => {
    for (const headers of [NAVIGATION, {}]) {
      const { status, text } = await get(path, headers);
      expect([status, text]).toEqual([200, PAGE]);
    }
    const head = await get(path, {}, 'HEAD');
    expect([head.status, head.sent['content-length'], head.text]).toEqual([200, String(PAGE.length), '']);
    expect((await get(path, {}, 'POST')).status).toBe(404);
  });

  test.each(['/nothing', '/market', '/market/a/b', '/chain/1', '/index.html', '/%2e%2e/package.json', '//'])(
    'says with status 404 that there is nothing at %s, but only to a browser',
    async (path) => {
      const opened = await get(path, NAVIGATION);
      expect([opened.status, opened.type, opened.text]).toEqual([404, 'text/html; charset=utf-8', PAGE]);
      const { status, text } = await get(path);
      expect([status, text]).toEqual([404, 'Not found. The GraphQL endpoint is /graphql.\n']);
    },
  );

  test('hides nothing of the API', async () => {
    const types = [
      '/graphql?query={beaconHeight}',
      '/schema.graphql',
      '/openapi.json',
      '/health',
      '/ready',
      '/metrics',
    ].map(async (path) => [path, (await get(path, { accept: 'application/json' })).type]);
    expect(await Promise.all(types)).toEqual([
      ['/graphql?query={beaconHeight}', 'application/json; charset=utf-8'],
      ['/schema.graphql', 'text/plain; charset=utf-8'],
      ['/openapi.json', 'application/json'],
      ['/health', 'application/json'],
      ['/ready', 'application/json'],
      ['/metrics', 'text/plain; version=0.0.4; charset=utf-8'],
    ]);
    const pairs = await get('/api/v1/public/market-data/pairs', NAVIGATION);
    expect([pairs.status, pairs.type]).toEqual([200, 'application/json']);
    const unknown = await get('/api/v1/nothing', NAVIGATION);
    expect([unknown.status, unknown.type]).toEqual([404, 'application/json']);
  });

  test('is sent once to a browser, and checked each time', async () => {
    const first = await get('/', { ...NAVIGATION, 'accept-encoding': 'br' });
    expect(first.sent).toMatchObject({
      'cache-control': 'no-cache',
      'content-encoding': 'br',
      vary: 'accept-encoding, accept, sec-fetch-mode, sec-fetch-dest',
    });
    expect(String(brotliDecompressSync(first.bytes))).toBe(PAGE);
    const etag = String(first.sent['etag']);
    for (const path of ['/', '/chain']) {
      const again = await get(path, { ...NAVIGATION, 'accept-encoding': 'br', 'if-none-match': etag });
      expect([again.status, again.text, again.sent['etag']]).toEqual([304, '', etag]);
    }
    const plain = await get('/', { ...NAVIGATION, 'if-none-match': etag });
    expect([plain.status, plain.text]).toEqual([200, PAGE]);
    const unknown = await get('/nothing', { ...NAVIGATION, 'accept-encoding': 'br', 'if-none-match': etag });
    expect(unknown.status).toBe(404);
  });

  test('may load nothing from elsewhere, and no other page may show it', async () => {
    for (const path of ['/', '/nothing', '/assets/main-abc123.js'])
      expect((await get(path, NAVIGATION)).sent).toMatchObject({
        'content-security-policy':
          "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
      });
  });
});

describe('the files of the explorer', () => {
  test.each([
    ['/assets/main-abc123.js', 'text/javascript; charset=utf-8'],
    ['/assets/main-def456.css', 'text/css; charset=utf-8'],
    ['/assets/icon-abc456.svg', 'image/svg+xml'],
    ['/assets/font-abc789.woff2', 'font/woff2'],
  ])('%s is sent as %s, for ever', async (path, expected) => {
    const { status, type, sent, text } = await get(path);
    expect([status, type, text]).toEqual([200, expected, BUILT[path.slice(1)]]);
    expect(sent).toMatchObject({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' });
    const head = await get(path, {}, 'HEAD');
    expect([head.status, head.sent['content-length'], head.text]).toEqual([200, String(text.length), '']);
  });

  test.each([
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['br;q=0.5', 'br'],
    ['identity', undefined],
    ['br; q=0.0, gzip;q=0', undefined],
    ['zstd', undefined],
  ])('are sent to a client that accepts %s as %s', async (accepted, encoding) => {
    const { sent, bytes } = await get('/assets/main-abc123.js', { 'accept-encoding': accepted });
    const decode = { br: brotliDecompressSync, gzip: gunzipSync }[encoding ?? ''] ?? ((raw: Buffer) => raw);
    expect([sent['content-encoding'], String(decode(bytes))]).toEqual([encoding, SCRIPT]);
    // A font is compressed already.
    const font = await get('/assets/font-abc789.woff2', { 'accept-encoding': accepted });
    expect([font.sent['content-encoding'], font.text]).toEqual([undefined, 'a font']);
  });

  test('are sent by the first 1,000 characters of Accept-Encoding', async () => {
    const { sent } = await get('/assets/main-abc123.js', { 'accept-encoding': `${'gzip,'.repeat(200)}br` });
    expect(sent['content-encoding']).toBe('gzip');
  });

  test.each([
    ['/robots.txt', 'text/plain; charset=utf-8'],
    ['/favicon.ico', 'image/x-icon'],
    ['/manifest.webmanifest', 'application/manifest+json'],
  ])('without a hash in their names are checked each time: %s', async (path, type) => {
    const { sent, text } = await get(path, NAVIGATION);
    expect([sent['cache-control'], sent['content-type'], text]).toEqual(['no-cache', type, BUILT[path.slice(1)]]);
    expect(sent['content-security-policy']).toContain("default-src 'self'");
    expect((await get(path, { 'if-none-match': String(sent['etag']) })).status).toBe(304);
  });

  test.each([
    ...['/assets/main-abc124.js', '/assets/', '/assets/main-abc123.js.br', '/assets/../index.html', '/assets/%2e%2e/x'],
    ...['/assets/..%2findex.html', '/assets/main-abc123.js/', '/Assets/main-abc123.js%00'],
  ])('do not include %s, also for a browser', async (path) => {
    // A URL would lose its dots.
    const requested = httpGet({ port: new URL(origin).port, path, agent: false });
    const [response] = (await once(requested, 'response')) as [IncomingMessage];
    response.resume();
    expect([response.statusCode, response.headers['content-type']]).toEqual([404, 'text/plain; charset=utf-8']);
  });

  test('do not answer a browser that opens one that does not exist with the page', async () => {
    const { status, type } = await get('/assets/main-abc124.js', NAVIGATION);
    expect([status, type]).toEqual([404, 'text/plain; charset=utf-8']);
  });
});

describe('the explorer', () => {
  test('is off with EXPLORER=false, and if only persisted documents are executed', async () => {
    const { log, lines } = createKeptLog(String, 'info');
    const config = readConfig([], {}) as Config;
    for (const off of [{ explorer: false }, { persistedOnly: true }])
      expect(await readExplorer({ ...config, ...off }, log)).toBe('off');
    expect(lines).toEqual([]);
    const own = await open({ explorer: 'off' });
    const answers = ['/', '/chain', '/nothing'].map(async (path) => {
      const { statusCode, headers, body } = await request(own + path, { headers: NAVIGATION });
      await body.dump();
      return [path, statusCode, headers['content-type']];
    });
    expect(await Promise.all(answers)).toEqual([
      ['/', 200, 'text/html; charset=utf-8'],
      ['/chain', 404, 'text/plain; charset=utf-8'],
      ['/nothing', 404, 'text/plain; charset=utf-8'],
    ]);
  });

  test('costs a client no points, is counted by the metrics, and is logged', async () => {
    const config = { rateLimitPerSecond: 1, rateLimitBurst: 1, accessLog: 'all' } as const;
    const { app, lines } = await startGatewayForTest({ explorer: files, config });
    const own = new URL(await app.listen(0, '127.0.0.1')).origin;
    const paths = ['/', '/assets/main-abc123.js', '/chain', '/nothing'];
    for (const path of paths) {
      const { statusCode, headers, body } = await request(own + path, { headers: NAVIGATION });
      await body.dump();
      expect([path, statusCode, headers['ratelimit']]).toEqual([path, path === '/nothing' ? 404 : 200, undefined]);
    }
    const answer = await request(`${own}/graphql?query={beaconHeight}`);
    expect(answer.statusCode).toBe(200);
    await answer.body.dump();
    const text = await (await fetch(`${own}/metrics`)).text();
    expect(sample(text, 'pdex_http_requests_total{endpoint="explorer",status="200"}')).toBe(3);
    expect(sample(text, 'pdex_http_requests_total{endpoint="nowhere",status="404"}')).toBe(1);
    const logged = lines.filter(({ msg }) => msg === 'request').map(({ path, status }) => [path, status]);
    expect(logged).toEqual(expect.arrayContaining(paths.map((path) => [path, path === '/nothing' ? 404 : 200])));
  });

  test('leaves the other pages of a server to it', async () => {
    const own = createServer((incoming, response) =>
      gateway.app.handle(incoming, response, () => response.writeHead(200).end('the page of the program')),
    );
    const port = await freePort();
    await new Promise<void>((resolve) => own.listen(port, '127.0.0.1', resolve));
    try {
      const read = async (path: string) =>
        (await request(`http://127.0.0.1:${port}${path}`, { headers: NAVIGATION, reset: true })).body.text();
      expect(await Promise.all(['/', '/chain', '/nothing', '/assets/own.js'].map(read))).toEqual([
        ...[PAGE, PAGE],
        ...['the page of the program', 'the page of the program'],
      ]);
    } finally {
      own.close();
    }
  });

  test('has URLs in the metadata of its page if it has a public URL', async () => {
    const page = (base: string) =>
      `<!doctype html><meta property="og:image" content="${base}/preview.png"><a href="/x">`;
    const own = join(folder, 'public');
    mkdirSync(own);
    writeFileSync(join(own, 'index.html'), page(''));
    onTestFinished(() => rmSync(own, { recursive: true }));
    const sent = async (url?: string) =>
      (await readExplorerFiles(pathToFileURL(`${own}/`), url === undefined ? undefined : new URL(url)))?.page;
    expect(await sent()).toBe(page(''));
    expect(await sent('https://dex.example/any')).toBe(page('https://dex.example'));
  });

  test('that is not built has no files', async () => {
    expect(await readExplorerFiles(pathToFileURL(join(folder, 'nowhere/')))).toBeUndefined();
    expect(await readExplorerFiles(pathToFileURL(join(folder, 'assets/')))).toBeUndefined();
  });
});

test('the page says what is known of the gateway before any request, in each encoding', async () => {
  const page = '<!doctype html><html lang="en"><title>The explorer</title></html>';
  const known = async (options: TestGatewayOptions) => {
    const started = await startGatewayForTest({ ...options, explorer: { page, assets: new Map() } });
    const { origin } = new URL(await started.app.listen(0, '127.0.0.1'));
    const read = async (encoding: string) => {
      const response = await fetch(`${origin}/chain`, {
        headers: { accept: 'text/html', 'accept-encoding': encoding },
      });
      return (await response.text()).replace(/^<!doctype html><html(.*) lang="en">.*$/, '$1');
    };
    const [plain, ...others] = await Promise.all(['identity', 'gzip', 'br'].map(read));
    expect(others).toEqual([plain, plain]);
    return plain;
  };
  expect([
    await known({}),
    await known({ isSandbox: false, store: createStoreModel() }),
    await known({ isSandbox: false, without: 'NODE' }),
    await known({ store: createStoreModel(), without: 'MARKET_DATA' }),
  ]).toEqual([
    ' data-notices="history sandbox"',
    '',
    ' data-notices="NODE history"',
    ' data-notices="MARKET_DATA sandbox"',
  ]);
});

// Without Chromium this test is skipped. CI has it: see the test of GraphiQL.
describe.skipIf(!hasBrowser)('the explorer in a browser', () => {
  test('can query and subscribe at its own gateway, and nothing else', async () => {
    const own = await open({
      explorer: {
        page: '<!doctype html><title></title><script>window.inline = true</script><script src="/assets/a.js"></script>',
        assets: new Map([['/assets/a.js', createFile('text/javascript', { identity: Buffer.from(IN_PAGE) })]]),
      },
    });
    const page = await newPage();
    onTestFinished(() => page.context().close());
    const elsewhere: string[] = [];
    page.on('request', (sent) => !sent.url().startsWith(own) && elsewhere.push(sent.url()));
    await page.goto(`${own}/market/any`);
    // Not `waitForFunction`: it evaluates text in the page, which its policy forbids.
    await expect.poll(() => page.title()).not.toBe('');
    expect(JSON.parse(await page.title())).toEqual({
      inline: false,
      query: { data: { __typename: 'Query' } },
      websocket: 'connection_ack',
      elsewhere: 'refused',
    });
    expect(elsewhere).toEqual([]);
  });
});

/** The script of a page: writes into the title what it could do. */
const IN_PAGE = `(async () => {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch('/graphql', { method: 'POST', headers, body: '{"query":"{ __typename }"}' });
  const socket = new WebSocket(location.origin.replace('http', 'ws') + '/graphql', 'graphql-transport-ws');
  const websocket = await new Promise((resolve) => {
    socket.onopen = () => socket.send('{"type":"connection_init"}');
    socket.onmessage = ({ data }) => resolve(JSON.parse(data).type);
    socket.onerror = () => resolve('refused');
  });
  const elsewhere = await fetch('http://localhost:1/').then(() => 'answered', () => 'refused');
  const query = await answer.json();
  document.title = JSON.stringify({ inline: window.inline === true, query, websocket, elsewhere });
})()`;
