import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, type Dispatcher, request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';

const START = fileURLToPath(new URL('../../src/start.js', import.meta.url));

function run(args: readonly string[], env: Record<string, string> = {}): ChildProcess & { output: () => string } {
  const { FULLNODE_URL: _node, MARKET_DATA_URL: _host, ...inherited } = process.env;
  const child = spawn(process.execPath, [START, ...args], { env: { ...inherited, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
  return Object.assign(child, { output: () => output });
}

async function untilOutput(child: ReturnType<typeof run>, text: string): Promise<void> {
  while (!child.output().includes(text)) await once(child.stdout as NodeJS.ReadableStream, 'data');
}

async function untilServing(child: ReturnType<typeof run>): Promise<string> {
  await untilOutput(child, '"serving"');
  return /"graphql":"([^"]+)"/.exec(child.output())?.[1] ?? '';
}

const QUERY = '?query={poolPairs(first:20){nodes{id,price}}}';

/** Asks again and again, one query after another, each of which has to be answered whole. @returns how many were */
async function askOn(
  url: string,
  dispatcher: Dispatcher,
  goesOn: (answer: { isLast: boolean }) => boolean,
): Promise<number> {
  onTestFinished(() => dispatcher.destroy());
  for (let asked = 1; ; asked++) {
    const { statusCode, headers, body } = await request(`${url}${QUERY}`, { dispatcher });
    const { data } = (await body.json()) as { data: { poolPairs: { nodes: unknown[] } } };
    expect([statusCode, data.poolPairs.nodes.length]).toEqual([200, 20]);
    if (!goesOn({ isLast: headers['connection'] === 'close' })) return asked;
  }
}

const keptConnection = () => new Agent({ connections: 1 });

const newConnections = () => new Agent({ connections: 1, pipelining: 0 });

describe('the process', () => {
  test('serves the sandbox with nothing configured, says so first, and ends with 0 on SIGTERM', async () => {
    const child = run(['--port', '0']);
    const url = await untilServing(child);
    expect(child.output().split('\n')[0]).toContain('built-in sandbox plays both');
    const response = await fetch(`${url}?query={service{sandbox}}`);
    expect(await response.json()).toEqual({ data: { service: { sandbox: true } } });

    child.kill('SIGTERM');
    await untilOutput(child, 'stopping');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('ends with 0 on SIGTERM also with a subscription open', async () => {
    const child = run(['--port', '0']);
    const url = await untilServing(child);
    const query = encodeURIComponent('subscription { head { beaconHeight } }');
    const response = await fetch(`${url}?query=${query}`, { headers: { accept: 'text/event-stream' } });
    await response.body?.getReader().read();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('loses no request on SIGTERM, neither on connections that are kept nor on new ones', async () => {
    const child = run(['--port', '0', '--stop-window-ms', '1500']);
    const url = await untilServing(child);
    const exit = once(child, 'exit');
    let isSending = true;
    // As balancers do: some keep their connections until they are told of the last answer on one, the others open new ones
    // for some time after /ready says 503.
    const keeping = Array.from({ length: 100 }, () => askOn(url, keptConnection(), ({ isLast }) => !isLast));
    const opening = Array.from({ length: 100 }, () => askOn(url, newConnections(), () => isSending));
    await sleep(500);
    child.kill('SIGTERM');
    await expect.poll(async () => (await request(new URL('/ready', url))).statusCode).toBe(503);
    await sleep(1_000);
    isSending = false;

    const asked = await Promise.all([...keeping, ...opening]);
    expect(Math.min(...asked)).toBeGreaterThan(0);
    expect(await exit).toEqual([0, null]);
  });

  test('ends at once, with 1, on a second signal', async () => {
    const child = run(['--port', '0', '--stop-window-ms', '60000']);
    const url = await untilServing(child);
    await (await fetch(`${url}${QUERY}`)).text();
    child.kill('SIGTERM');
    // Signals within a second are one: npm and its shell pass on what the process has got already.
    await sleep(1_100);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([1, null]);
  });

  test('tells all that is wrong with its settings at once, and ends with 2', async () => {
    const child = run(['--port', 'x', '--nothing', '--head-poll-ms=49'], { FULLNODE_URL: 'ftp://x' });
    expect(await once(child, 'exit')).toEqual([2, null]);
    const output = child.output();
    for (const part of ['--port', '--nothing', '--head-poll-ms', 'FULLNODE_URL']) expect(output).toContain(part);
    expect(output.trim().split('\n')).toHaveLength(4);
  });

  test('says in one line that its port is taken, and ends with 1', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const child = run(['--port', String(port), '--fullnode-url', 'http://127.0.0.1:1']);
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(child.output()).toContain('cannot listen');
    server.close();
  });

  test('prints its settings and its version', async () => {
    const help = run(['--help']);
    expect(await once(help, 'close')).toEqual([0, null]);
    expect(help.output()).toContain('--market-data-partner');
    const version = run(['--version']);
    expect(await once(version, 'close')).toEqual([0, null]);
    expect(version.output()).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
