import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { createGateway } from '../../src/index.ts';
import { createSandboxHosts } from '../../src/sandbox/sandbox.ts';
import { hasOpenssl, makeCertificate, serveOverTls } from '../support/certificate.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { START } from '../support/gateway-process.ts';
import type { LogLine } from '../support/log.ts';
import { startOtlpReceiver } from '../support/otlp-receiver.ts';

const NAMES = ['node.example', 'market.example', 'tokens.example'].map((name) => `DNS:${name}`);

test.skipIf(!hasOpenssl)(
  'requests to all upstreams, websockets and traces go through the proxies of the environment, whose passwords are never printed',
  async () => {
    const certificate = makeCertificate(['IP:127.0.0.1', ...NAMES].join());
    const sandbox = await createSandboxHosts({ history: 5 });
    onTestFinished(sandbox.close);
    const collector = await startOtlpReceiver();
    const hostOf = (url: string) => new URL(url).host;
    const plain = await startForwardProxy({
      credentials: 'someone:s3cr3t-of-http',
      hosts: { 'node.example:9334': hostOf(sandbox.nodeUrl), 'collector.example:4318': collector.url.host },
    });
    const secure = await startForwardProxy({
      certificate,
      credentials: 'someone:s3cr3t-of-https',
      hosts: {
        'node.example:443': await serveOverTls(sandbox.pushUrl, certificate),
        'market.example:443': await serveOverTls(sandbox.marketDataUrl, certificate),
        'tokens.example:443': await serveOverTls(sandbox.tokensUrl, certificate),
      },
    });
    const child = spawn(process.execPath, [START, '--port=0', '--log-level=trace', '--history-database=off'], {
      env: {
        PATH: process.env['PATH'],
        NODE_EXTRA_CA_CERTS: certificate.certFile,
        NODE_USE_ENV_PROXY: '1',
        HTTP_PROXY: plain.url.href.replace('//', '//someone:s3cr3t-of-http@'),
        // Of two spellings, the lower case is read.
        HTTPS_PROXY: 'http://127.0.0.1:1',
        https_proxy: secure.url.href.replace('//', '//someone:s3cr3t-of-https@'),
        FULLNODE_URL: 'http://node.example:9334',
        FULLNODE_WS_URL: 'wss://node.example',
        MARKET_DATA_URL: 'https://market.example',
        TOKENS_URL: `https://tokens.example${new URL(sandbox.tokensUrl).pathname}`,
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        EXPLORER: 'false',
        STOP_WINDOW_MS: '0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
    const lines: LogLine[] = [];
    const log = createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line)));
    const serving = () => lines.find(({ msg }) => msg === 'serving');
    while (serving() === undefined) await once(log, 'line');
    await expect.poll(sandbox.push.subscribers).toBe(1);
    const ask = async () =>
      (
        await fetch(`${serving()?.['graphql']}?query=${encodeURIComponent('{ beaconHeight tickers { tickerId } }')}`)
      ).json();
    await expect.poll(ask).toEqual({
      data: { beaconHeight: sandbox.chain.tip.height, tickers: expect.arrayContaining([expect.anything()]) },
    });
    await expect.poll(() => sandbox.tokenService.calls('tokenlist')).toBe(1);
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);

    expect(new Set(plain.asked)).toEqual(
      new Set(['POST http://node.example:9334/', 'POST http://collector.example:4318/v1/traces']),
    );
    expect(new Set(secure.asked)).toEqual(
      new Set(['CONNECT node.example:443', 'CONNECT market.example:443', 'CONNECT tokens.example:443']),
    );
    expect(collector.spans().map(({ name }) => name)).toEqual(expect.arrayContaining(['poll head', 'query']));
    expect(sandbox.push.leaked()).toBe(0);
    expect(lines).toContainEqual(
      expect.objectContaining({
        msg: 'requests to other hosts go through proxies',
        http: plain.url.host,
        https: secure.url.host,
      }),
    );
    expect(output).not.toContain('s3cr3t');
    for (const name of ['http', 'https'])
      expect(output).not.toContain(Buffer.from(`someone:s3cr3t-of-${name}`).toString('base64'));
  },
);

test('the built-in sandbox is read without a proxy', async () => {
  const down = 'http://127.0.0.1:1';
  const gateway = await createGateway({ httpProxy: down, httpsProxy: down, sandboxBlockMs: 3_600_000 });
  onTestFinished(gateway.close);
  const ask = async () => (await gateway.fetch(new Request('http://any/graphql?query={beaconHeight}'))).json();
  await expect.poll(ask).toEqual({ data: { beaconHeight: expect.any(Number) } });
});

test('the `fetch` of a program uses the proxy of its environment also when the program has the library', async () => {
  const sandbox = await createSandboxHosts({ history: 5 });
  onTestFinished(sandbox.close);
  const proxy = await startForwardProxy();
  const program = `
    import { createGateway } from ${JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)};
    const gateway = await createGateway({ fullnodeUrl: ${JSON.stringify(sandbox.nodeUrl)} });
    const query = await gateway.fetch(new Request('http://gateway/graphql?query={beaconHeight}'));
    const { status } = await fetch('http://other.example');
    console.log(JSON.stringify([await query.json(), status]));
    await gateway.close();`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { PATH: process.env['PATH'], NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url.href },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const output: string[] = [];
  child.stdout.on('data', (text) => output.push(String(text)));
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(JSON.parse(output.join(''))).toEqual([{ data: { beaconHeight: sandbox.chain.tip.height } }, 502]);
  expect(proxy.asked).toEqual(['GET http://other.example/']);
});
