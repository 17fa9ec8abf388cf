import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/sandbox/http/listen.ts';
import { fixedSandbox } from './support.ts';

const host = '127.0.0.1';

function createServerForTest() {
  const server = createServer();
  onTestFinished(() => void server.close());
  return server;
}

test('the process keeps the first port of the range in which its sandboxes listen', async () => {
  await using sandbox = await fixedSandbox({});
  for (const url of [sandbox.nodeUrl, sandbox.marketDataUrl]) {
    const { port } = new URL(url);
    const range = Math.floor((Number(port) - 20_000) / 256);
    expect([range >= 0, range < 49]).toEqual([true, true]);
    const kept = listen(createServerForTest(), { host, port: 20_000 + range * 256 });
    await expect(kept).rejects.toThrow('EADDRINUSE');
  }
});

test('a port is found although fifty hosts in a row are open', async () => {
  const servers = Array.from({ length: 60 }, createServerForTest);
  for (const server of servers) await listen(server, { host, port: 0 });
  for (let count = 0; count < 255; count++) {
    const server = createServer();
    await listen(server, { host, port: 0 });
    server.close();
  }
});

test('a host that was stopped cannot start while another program has its port', async () => {
  await using sandbox = await fixedSandbox({});
  for (const [stopped, url] of [
    [sandbox.node, sandbox.nodeUrl],
    [sandbox.push, sandbox.pushUrl],
  ] as const) {
    await stopped.stop();
    const other = createServer();
    await listen(other, { host, port: Number(new URL(url).port) });
    await expect(stopped.start()).rejects.toThrow('EADDRINUSE');
    other.close();
    await stopped.start();
  }
});

test('a port that is given must be free at once', async () => {
  const port = await listen(createServerForTest(), { host, port: 0 });
  await expect(listen(createServer(), { host, port })).rejects.toThrow('EADDRINUSE');
});
