import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, type Dispatcher, request } from 'undici';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createSandboxHosts } from '../../src/sandbox/sandbox.ts';
import { START } from '../support/gateway-process.ts';
import { oldNodes } from '../support/old-nodes.ts';
import { buildCommand } from '../support/package-build.ts';
import { freePort } from '../support/ports.ts';

type Run = ChildProcess & { output: () => string };

/** The command of the package. */
let command: string;
beforeAll(async () => {
  command = await buildCommand();
});

function run(args: readonly string[], env: Record<string, string> = {}): Run {
  return runCommand(process.execPath, [command, ...args], env);
}

/** The flag of a node that does not respond: without the sandbox, a gateway starts in half the time. */
const NO_NODE = '--fullnode-url=http://127.0.0.1:1';

/** @param stdout a file in place of a pipe */
function runCommand(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  stdout: number | 'pipe' = 'pipe',
): Run {
  const { FULLNODE_URL: _node, MARKET_DATA_URL: _host, ...inherited } = process.env;
  // By default, all of them would record a week of the sandbox into one file of the working directory.
  const child = spawn(command, args, {
    env: { ...inherited, HISTORY_DATABASE: 'off', ...env },
    stdio: ['pipe', stdout, 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
  return Object.assign(child, { output: () => output });
}

/** A pipe into which no more bytes fit. */
function openFullPipe(): number {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'log');
  execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  for (const bytes of [4_096, 1]) {
    try {
      for (;;) writeSync(fd, Buffer.alloc(bytes));
    } catch (error) {
      expect(error).toMatchObject({ code: 'EAGAIN' });
    }
  }
  return fd;
}

async function untilOutput(child: Run, text: string): Promise<void> {
  while (!child.output().includes(text)) await once(child.stdout as NodeJS.ReadableStream, 'data');
}

async function untilServing(child: Run): Promise<string> {
  await untilOutput(child, '"serving"');
  return /"graphql":"([^"]+)"/.exec(child.output())?.[1] ?? '';
}

/** The complete lines of the log, without their times. Every line of the output must be a line of the log. */
function linesOf(child: Run): { readonly level: number; readonly msg: string }[] {
  const lines = child.output().split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line)).map(({ time: _time, ...rest }) => rest);
}

const QUERY = '?query={poolPairs(first:20){nodes{id,price}}}';

/** Sends one query after another while `wantsMore`. Each must be answered completely. */
async function sendQueries(
  url: string,
  dispatcher: Dispatcher,
  wantsMore: (answer: { isLast: boolean }) => boolean,
): Promise<void> {
  onTestFinished(() => dispatcher.destroy());
  for (;;) {
    const { statusCode, headers, body } = await request(`${url}${QUERY}`, { dispatcher });
    const { data } = (await body.json()) as { data: { poolPairs: { nodes: unknown[] } } };
    expect([statusCode, data.poolPairs.nodes.length]).toEqual([200, 20]);
    if (!wantsMore({ isLast: headers['connection'] === 'close' })) return;
  }
}

/** A promise that resolves after so many calls of `count`. */
function createCountdown(clients: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = clients;
  return {
    done: promise,
    count() {
      if (--left === 0) resolve();
    },
  };
}

const keptConnection = () => new Agent({ connections: 1 });

const newConnections = () => new Agent({ connections: 1, pipelining: 0 });

describe('the process', () => {
  test('serves the sandbox if nothing is configured, logs that, its admin port and wrong variables, and exits with 0 on SIGTERM', async () => {
    const child = run(['--port', '0', '--admin-port', '0'], {
      FULNODE_URL: 'http://user:s3cr3t@127.0.0.1:1',
      NODE_USE_ENV_PROXY: '',
      HTTPS_PROXY: 'http://user:s3cr3t@127.0.0.1:1',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
      OTEL_SDK_DISABLED: 'yes',
    });
    const url = await untilServing(child);
    const hidden = '(not shown, it may contain a secret)';
    const logged = linesOf(child).map(({ level, msg }) => [level, msg]);
    for (const line of [
      [40, 'FULNODE_URL is not a setting: did you mean FULLNODE_URL?'],
      [40, `OTEL_EXPORTER_OTLP_ENDPOINT ${hidden}: expected a URL with http or https; the variable is ignored`],
      [40, 'OTEL_SDK_DISABLED is "yes": expected true or false; the variable is ignored'],
      [30, 'the proxies of the environment are not used without NODE_USE_ENV_PROXY=1'],
      [40, 'the built-in sandbox simulates the node and the market data: no price is real'],
    ])
      expect(logged).toContainEqual(line);
    expect(child.output()).not.toContain('s3cr3t');
    // On a connection that ends with its answer: without clients, the process ends at once.
    const { body } = await request(`${url}?query={service{sandbox}}`, { reset: true });
    expect(await body.json()).toEqual({ data: { service: { sandbox: true } } });
    const [, admin = ''] = /"admin":"([^"]+)"/.exec(child.output()) ?? [];
    const statusOf = async (at: string) => (await request(new URL('/health', at), { reset: true })).statusCode;
    expect([await statusOf(admin), await statusOf(url)]).toEqual([200, 404]);

    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test.runIf(process.platform === 'linux').each([
    ['on a full disk', () => openSync('/dev/full', 'w')],
    ['a pipe that nobody reads', openFullPipe],
  ])('serves, stops and fails also if its log is %s', async (_, openLog) => {
    const port = await freePort();
    // A file for each: libuv makes it blocking for all that have it when it starts a process.
    const start = () => {
      const log = openLog();
      onTestFinished(() => closeSync(log));
      return runCommand(process.execPath, [command, '--port', String(port), NO_NODE], {}, log);
    };
    const child = start();
    const status = () =>
      fetch(`http://127.0.0.1:${port}/health`).then(
        (response) => response.status,
        () => undefined,
      );
    await expect.poll(status).toBe(200);
    expect(await once(start(), 'exit')).toEqual([1, null]);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test('logs the warnings of libraries, and prints nothing else', async () => {
    // Emits a warning as soon as somebody listens for it, besides Node.
    const source = `process.on('newListener', (name) => {
      if (name === 'warning') setImmediate(() => process.emitWarning('a library warns'));
    })`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(source)}`;
    const child = run(['--port=0', NO_NODE], { NODE_OPTIONS, HISTORY_DATABASE: 'memory' });
    await expect.poll(() => child.output().split('"msg":"a library warns"').length).toBe(2);
    expect(
      child
        .output()
        .split('\n')
        .filter((line) => !/^(\{.*\})?$/.test(line)),
    ).toEqual([]);
  });

  test('unsubscribes from the websocket of the node on SIGHUP, when its terminal is closed', async () => {
    const sandbox = await createSandboxHosts({ history: 5 });
    onTestFinished(sandbox.close);
    const child = run(['--port', '0'], {
      FULLNODE_URL: sandbox.nodeUrl,
      FULLNODE_WS_URL: sandbox.pushUrl,
      HISTORY_DATABASE: 'off',
    });
    await untilServing(child);
    await expect.poll(sandbox.push.subscribers).toBe(1);
    child.kill('SIGHUP');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(child.output()).toContain('"signal":"SIGHUP","msg":"stopping"');
    await expect.poll(sandbox.push.openSockets).toBe(0);
    expect([sandbox.push.calls('unsubscribe'), sandbox.push.leaked()]).toEqual([1, 0]);
  });

  test('stops on SIGTERM while it starts: it unsubscribes, and does not listen', async () => {
    const sandbox = await createSandboxHosts({ history: 5 });
    onTestFinished(sandbox.close);
    // The gateway waits for seconds for this Redis, which does not respond.
    const redis = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void redis.close());
    await once(redis, 'listening');
    const child = run(['--port', '0'], {
      FULLNODE_URL: sandbox.nodeUrl,
      FULLNODE_WS_URL: sandbox.pushUrl,
      REDIS_URL: `redis://127.0.0.1:${(redis.address() as { port: number }).port}`,
      HISTORY_DATABASE: 'off',
    });
    await expect.poll(sandbox.push.subscribers).toBe(1);
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
    // On a busy machine, it can have started before the signal.
    expect(child.output().split('"stopping"')[1]).not.toContain('"serving"');
    await expect.poll(sandbox.push.openSockets).toBe(0);
    expect([sandbox.push.calls('unsubscribe'), sandbox.push.leaked()]).toEqual([1, 0]);
  });

  test('loses no request on SIGTERM, neither on persistent connections nor on new ones, also with an open subscription, and ignores a second signal within a second', async () => {
    const child = run(['--port', '0', '--stop-window-ms', '3000']);
    const url = await untilServing(child);
    const exit = once(child, 'exit');
    const query = encodeURIComponent('subscription { head { beaconHeight } }');
    const response = await fetch(`${url}?query=${query}`, { headers: { accept: 'text/event-stream' } });
    await response.body?.getReader().read();
    const firstAnswers = createCountdown(100);
    let isReady = true;
    // As load balancers do: some keep their connection until an answer says that it is the last.
    const keeping = Array.from({ length: 50 }, () => {
      let answers = 0;
      return sendQueries(url, keptConnection(), ({ isLast }) => {
        if (answers++ === 0) firstAnswers.count();
        return !isLast;
      });
    });
    // Others open a connection for each request, and send two more after /ready has responded with 503.
    const opening = Array.from({ length: 50 }, () => {
      let answers = 0;
      let answersSinceStopping = 0;
      return sendQueries(url, newConnections(), () => {
        if (answers++ === 0) firstAnswers.count();
        return isReady || ++answersSinceStopping < 2;
      });
    });
    await Promise.race([firstAnswers.done, Promise.all([...keeping, ...opening])]);
    // Both at once: on a busy machine, a test that waits in between can be late.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) child.kill(signal);
    await expect.poll(async () => (await request(new URL('/ready', url))).statusCode).toBe(503);
    isReady = false;

    await Promise.all([...keeping, ...opening]);
    expect(await exit).toEqual([0, null]);
  });

  // Other systems have lower limits.
  test.runIf(process.platform === 'linux')('lets a thousand clients connect while it is busy', async () => {
    const child = run([NO_NODE, '--port=0']);
    const { hostname, port } = new URL(await untilServing(child));
    child.kill('SIGSTOP');
    const sockets = Array.from({ length: 1_000 }, () => connect(Number(port), hostname));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  });

  test('exits at once with 1 on a second signal', async () => {
    const child = run(['--port', '0', '--stop-window-ms', '60000', NO_NODE]);
    const url = await untilServing(child);
    await (await fetch(`${url}${QUERY}`)).text();
    // Signals within a second count as one: npm and its shell pass on a signal that the process has got already.
    const exit = once(child, 'exit');
    const from = performance.now();
    const signals = setInterval(() => child.kill('SIGTERM'), 50);
    onTestFinished(() => clearInterval(signals));
    expect(await exit).toEqual([1, null]);
    expect(performance.now() - from).toBeGreaterThan(1_000);
  });

  test('if its port is taken, prints one line at the end, unsubscribes from the websocket of the node, and exits with 1', async () => {
    const sandbox = await createSandboxHosts({ history: 5, nodes: 2 });
    onTestFinished(sandbox.close);
    // One whose polls are aborted when the gateway stops.
    sandbox.nodes[1]?.faults.set({ kind: 'hang' });
    // Also a Redis that does not respond: the gateway waits for it before it listens, and has subscribed by then, unless the machine
    // is very busy.
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    do {
      const child = run(['--port', String(port)], {
        FULLNODE_URL: sandbox.nodeUrls.join(','),
        FULLNODE_WS_URL: `${sandbox.pushUrl},`,
        REDIS_URL: `redis://127.0.0.1:${port}`,
        HISTORY_DATABASE: 'off',
      });
      expect(await once(child, 'close')).toEqual([1, null]);
      expect(linesOf(child).at(-1)).toEqual({
        level: 60,
        msg: `listen EADDRINUSE: address already in use 127.0.0.1:${port}; choose another port or address with PORT, HOST, ADMIN_PORT or ADMIN_HOST`,
      });
      expect(child.output()).not.toContain('destroyed');
      await expect.poll(sandbox.push.openSockets).toBe(0);
    } while (sandbox.push.calls('subscribe') === 0);
    expect([sandbox.push.calls('unsubscribe'), sandbox.push.leaked()]).toEqual([1, 0]);
    server.close();
  });

  test('stops when npm, which has started it, gets SIGTERM', async () => {
    const port = String(await freePort());
    const npm = runCommand('npm', ['start', '--', '--port', port, NO_NODE], { npm_config_update_notifier: 'false' });
    const url = await untilServing(npm);
    npm.kill('SIGTERM');
    await once(npm, 'close');
    await expect(fetch(url)).rejects.toThrow();
    expect(npm.output()).toContain('"stopping"');
  });

  test('prints on an older Node one line with the version that it needs, and exits with 2', async () => {
    const pretend = "Object.defineProperty(process.versions, 'node', { value: '20.1.0' })";
    const child = runCommand(process.execPath, ['--import', `data:text/javascript,${pretend}`, START]);
    expect(await once(child, 'close')).toEqual([2, null]);
    expect(child.output()).toBe('pdex-gateway needs Node 24 or newer; this is Node 20.1.0\n');
  });

  // If the machine has an older Node too.
  test.each(oldNodes())('prints the same line on %s', async (node) => {
    const child = runCommand(node, [START]);
    expect(await once(child, 'close')).toEqual([2, null]);
    expect(child.output()).toMatch(/^pdex-gateway needs Node 24 or newer; this is Node \d+\.\d+\.\d+\n$/);
  });

  test('prints its settings', async () => {
    const help = run(['--help']);
    expect(await once(help, 'close')).toEqual([0, null]);
    expect(help.output()).toContain('--market-data-partner');
  });
});
