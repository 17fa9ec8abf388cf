import { createServer } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { listen } from '../../src/sandbox/http/listen.ts';
import { fixedSandbox } from './support.ts';

const host = '127.0.0.1';

function createServerForTest() {
  const server = createServer();
  onTestFinished(() => void server.close());
  return server;
}

test('a process is not given the port of a host that another one has stopped', async () => {
  await using sandbox = await fixedSandbox({});
  await sandbox.node.stop();
  vi.resetModules();
  const ofAnotherProcess = await import('../../src/sandbox/http/listen.ts');
  const rangeOf = (port: number) => Math.floor((port - 20_000) / 256);
  const ranges = new Set<number>();
  for (let count = 0; count < 200; count++) {
    ranges.add(rangeOf(await ofAnotherProcess.listen(createServerForTest(), { host, port: 0 })));
  }
  expect([...ranges]).toEqual([expect.any(Number)]);
  expect([...ranges]).not.toContain(rangeOf(Number(new URL(sandbox.nodeUrl).port)));
  await sandbox.node.start();
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
