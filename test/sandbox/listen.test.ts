import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listen, listenAgain } from '../../src/sandbox/http/listen.ts';
import { fixedSandbox } from './support.ts';

test('a host that was stopped gets its port back when another program that has taken it ends', async () => {
  const [other, server] = [createServer(), createServer()];
  onTestFinished(() => void server.close());
  const host = '127.0.0.1';
  const port = await listen(other, { host, port: 0 });
  const started = listenAgain(server, { host, port });
  const [error] = await once(server, 'error');
  expect(error.code).toBe('EADDRINUSE');
  other.close();
  await started;
  expect(server.address()).toMatchObject({ address: host, port });
});

test('a host that is stopped while it waits for its port does not listen afterwards', async () => {
  await using sandbox = await fixedSandbox({});
  for (const [host, url] of [
    [sandbox.node, sandbox.nodeUrl],
    [sandbox.push, sandbox.pushUrl],
  ] as const) {
    await host.stop();
    const other = createServer();
    onTestFinished(() => void other.close());
    await listen(other, { host: '127.0.0.1', port: Number(new URL(url).port) });
    const started = host.start();
    await host.stop();
    await expect(started).rejects.toThrow('aborted');
  }
});

test('a port that is given must be free at once', async () => {
  const [other, server] = [createServer(), createServer()];
  onTestFinished(() => void other.close());
  const host = '127.0.0.1';
  const port = await listen(other, { host, port: 0 });
  await expect(listen(server, { host, port })).rejects.toThrow('EADDRINUSE');
});
