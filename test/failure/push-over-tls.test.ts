import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSandboxHosts } from '../../src/sandbox/sandbox.ts';
import { hasOpenssl, makeCertificate, serveOverTls } from '../support/certificate.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { START } from '../support/gateway-process.ts';
import { type LogLine, WARN } from '../support/log.ts';

// Without OpenSSL these tests are skipped. CI installs it, and fails if it is missing.
test.runIf(process.env['CI'])('CI has openssl', () => expect(hasOpenssl).toBe(true));

const NO_PUSH = {
  level: WARN,
  msg: 'a node does not push new blocks: the gateway polls it instead',
  code: 'UPSTREAM_UNREACHABLE',
  retryable: true,
  error: 'The node cannot be reached.',
};

describe.skipIf(!hasOpenssl)('a node that pushes new blocks over wss', () => {
  test('is read when a frame comes, if NODE_EXTRA_CA_CERTS names its authority, but not if the certificate is of another host', async () => {
    const [certificate, other] = [makeCertificate('IP:127.0.0.1'), makeCertificate('DNS:elsewhere.example')];
    appendFileSync(certificate.certFile, other.cert);
    const sandbox = await createSandboxHosts({ history: 5, nodes: 2 });
    onTestFinished(sandbox.close);
    const pushUrl = `wss://${await serveOverTls(sandbox.push.url, certificate)}`;
    const otherUrl = `wss://${await serveOverTls(sandbox.pushUrls[1] ?? '', other)}`;
    const { PATH } = process.env;
    const args = ['--port=0', '--head-poll-ms=3600000', '--history-database=off', '--explorer=false'];
    const child = spawn(process.execPath, [START, ...args], {
      env: {
        PATH,
        NODE_EXTRA_CA_CERTS: certificate.certFile,
        FULLNODE_URL: sandbox.nodeUrls.join(),
        FULLNODE_WS_URL: `${pushUrl},${otherUrl}`,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const lines: LogLine[] = [];
    const output = createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line)));
    const serving = () => lines.find(({ msg }) => msg === 'serving');
    while (serving() === undefined) await once(output, 'line');
    await expect.poll(sandbox.push.subscribers).toBe(1);

    const { height } = sandbox.chain.tip;
    const url = `${serving()?.['graphql']}?query={beaconHeight}`;
    const served = async () => (await fetch(url, { headers: { connection: 'close' } })).json();
    expect(await served()).toEqual({ data: { beaconHeight: height } });
    sandbox.advance();
    await expect.poll(served).toEqual({ data: { beaconHeight: height + 1 } });
    const warnings = () => lines.filter(({ level }) => level >= WARN);
    await expect.poll(warnings).toHaveLength(1);

    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
    // What the process has sent can still be on its way through the proxy.
    await expect.poll(sandbox.push.openSockets).toBe(0);
    expect([sandbox.push.calls('unsubscribe'), sandbox.push.leaked()]).toEqual([1, 0]);
    expect(sandbox.pushes[1]?.upgrades).toEqual([]);
    expect(warnings()).toEqual([
      expect.objectContaining({
        ...NO_PUSH,
        node: new URL(sandbox.nodeUrls[1] ?? '').host,
        host: new URL(otherUrl).host,
        cause: expect.stringContaining('does not match certificate'),
      }),
    ]);
  });

  test('is polled if no known authority has signed its certificate, and the log says so once', async () => {
    const certificate = makeCertificate('IP:127.0.0.1');
    let pushUrl = '';
    const { sandbox, lines, advance, app } = await startGatewayForTest({
      before: async ({ push }) => {
        pushUrl = `wss://${await serveOverTls(push.url, certificate)}`;
      },
      configOf: () => ({ fullnodeWsUrl: [new URL(pushUrl)] }),
    });
    await advance(3);
    const { origin } = new URL(await app.listen(0, '127.0.0.1'));
    const ready = async () => (await fetch(`${origin}/ready`)).json();
    await expect.poll(ready).toMatchObject({ status: 'ready', notes: [{ code: 'PUSH_FAILING' }] });
    expect(sandbox.push.upgrades).toEqual([]);
    const [node, host] = [new URL(sandbox.nodeUrl).host, new URL(pushUrl).host];
    expect(lines).toEqual([{ ...NO_PUSH, node, host, cause: expect.stringMatching(/^self-signed certificate/) }]);
  });
});
