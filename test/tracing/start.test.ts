import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { START } from '../support/gateway-process.ts';
import { DOWN, type OtlpReceiver, startGrpcReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';

const INDEX = fileURLToPath(new URL('../../src/index.ts', import.meta.url));

/** A node that does not respond. */
const NODE = 'http://127.0.0.1:1';

/** Writes the URL of each module that records or sends spans. */
const REPORT = `import { registerHooks } from 'node:module';
import { writeSync } from 'node:fs';
registerHooks({
  load(url, context, next) {
    if (/\\/(src\\/tracing\\/(spans|provider|grpc)|@opentelemetry\\/(?!api\\/)|@grpc\\/)/.test(url)) writeSync(2, url + '\\n');
    return next(url, context);
  },
});`;

/** Starts the gateway, sends it a query, and stops it. @returns the modules that it loaded for traces */
async function modulesLoadedWith(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const hook = `data:text/javascript,${encodeURIComponent(REPORT)}`;
  const child = spawn(
    process.execPath,
    ['--import', hook, START, '--port', '0', '--fullnode-url', NODE, '--stop-window-ms', '0'],
    { env: { PATH: process.env['PATH'], HISTORY_DATABASE: 'off', ...env } },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  const closed = once(child, 'close');
  let loaded = '';
  child.stderr.on('data', (chunk) => {
    loaded += chunk;
  });
  for await (const line of createInterface(child.stdout)) {
    const { graphql } = JSON.parse(line) as { readonly graphql?: string };
    if (graphql === undefined) continue;
    await (await fetch(`${graphql}?query={beaconHeight}`)).text();
    child.kill('SIGTERM');
  }
  await closed;
  return loaded.split('\n').filter((url) => url !== '');
}

/**
 * Runs a program that has a gateway for each receiver, sends each of them a query, and closes them.
 *
 * @returns how long the program waited after that, in milliseconds
 */
async function waitedMsWith(
  receivers: readonly (readonly [protocol: string, receiver: OtlpReceiver])[],
  env: Readonly<Record<string, string>> = {},
): Promise<number> {
  const options = receivers.map(([otelExporterOtlpProtocol, { url }]) => ({
    ...{ otelExporterOtlpEndpoint: url.href, otelExporterOtlpProtocol },
    ...{ fullnodeUrl: NODE, historyDatabase: 'off', stopWindowMs: 0 },
  }));
  const program = `import { createGateway } from ${JSON.stringify(INDEX)};
    const gateways = await Promise.all(${JSON.stringify(options)}.map((each) => createGateway(each)));
    for (const gateway of gateways)
      await (await gateway.fetch(new Request('http://any/graphql?query={beaconHeight}'))).text();
    await Promise.all(gateways.map((gateway) => gateway.close()));
    const closed = performance.eventLoopUtilization();
    process.on('exit', () => process.stdout.write(String(performance.eventLoopUtilization(closed).idle)));`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const waitedMs = Number(await text(child.stdout));
  expect(await exited).toEqual([0, null]);
  return waitedMs;
}

test('nothing of traces keeps a program running that has closed its gateways', async () => {
  const receiver = await startGrpcReceiver();
  const waitedMs = await waitedMsWith([
    ['http/protobuf', await startOtlpReceiver(() => {})],
    ['grpc', await startGrpcReceiver(() => {})],
    ['grpc', DOWN],
    ['grpc', receiver],
  ]);
  // The receiver has five seconds for a batch, of which the gateway waits for one. On a busy machine all takes longer, except waiting.
  expect(waitedMs).toBeLessThan(2_500);
  expect(receiver.spans().map(({ name }) => name)).toContain('query');
});

test.each<[string, Record<string, string>]>([
  ['no receiver is set', {}],
  ['OpenTelemetry is disabled', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_SDK_DISABLED: 'true' }],
])('nothing that records spans is loaded if %s', async (_, env) => {
  expect(await modulesLoadedWith(env)).toEqual([]);
});

test('what records spans is loaded if a receiver is set, which gets spans before the process ends', async () => {
  const receiver = await startOtlpReceiver();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url.href, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  const loaded = await modulesLoadedWith(env);
  expect(loaded).not.toEqual([]);
  expect(loaded.filter((url) => url.includes('grpc'))).toEqual([]);
  expect(receiver.spans().map(({ name }) => name)).toEqual(expect.arrayContaining(['poll head', 'query']));
});

test.skipIf(!hasOpenssl)(
  'gRPC over TLS trusts what Node trusts, and nothing that only variables of gRPC name',
  async () => {
    const [certificate, other] = [makeCertificate('DNS:localhost'), makeCertificate('DNS:localhost')];
    const [trusted, untrusted] = [
      await startGrpcReceiver(undefined, certificate),
      await startGrpcReceiver(undefined, other),
    ];
    const receivers = [trusted, untrusted].map((receiver) => ['grpc', receiver] as const);
    await waitedMsWith(receivers, {
      NODE_EXTRA_CA_CERTS: certificate.certFile,
      GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: other.certFile,
    });
    expect(trusted.spans().map(({ name }) => name)).toContain('query');
    expect(untrusted.requests).toEqual([]);
  },
);
