import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { fixedSandbox } from './support.ts';

const main = new URL('../../src/sandbox/main.ts', import.meta.url).pathname;
const run = (...args: string[]) => promisify(execFile)(process.execPath, [main, ...args]);

// Starts the command on free ports and resolves once it has introduced itself.
async function start(...args: string[]) {
  const ports = ['--node-port', '0', '--push-port', '0', '--market-data-port', '0', '--tokens-port', '0'];
  const child = spawn(process.execPath, [main, ...ports, '--block-ms', '0', ...args]);
  child.stdout.setEncoding('utf8');
  let text = '';
  for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) {
    text += piece;
    if (text.includes('npm start')) break;
  }
  return { child, text };
}

async function expectStop(child: ChildProcess, signal: NodeJS.Signals) {
  const exit = once(child, 'exit');
  child.kill(signal);
  expect(await exit).toEqual([0, null]);
}

describe('the sandbox as a command', () => {
  test('prints a working curl line for each of the seven endpoints, and exits with 0 on SIGINT', async () => {
    const { child, text } = await start();
    const lines = text.split('\n').filter((line) => line.startsWith('curl'));
    const answers = await Promise.all(lines.map((line) => promisify(execFile)('sh', ['-c', line])));
    expect(
      answers.map(({ stdout }) => Object.keys(JSON.parse(stdout).Result ?? JSON.parse(stdout)).slice(0, 2)),
    ).toEqual([
      ['pairs', 'message'],
      ['tickers', 'message'],
      ['bids', 'asks'],
      ['ChainName', 'BestBlocks'],
      ['BestBlockHash', 'PreviousBestBlockHash'],
      ['WaitingPDEContributions', 'PDEPoolPairs'],
      ['0', '1'],
    ]);
    const url = String.raw`http:\/\/127\.0\.0\.1:\d+`;
    const variables = `FULLNODE_URL=${url} FULLNODE_WS_URL=${url.replace('http', 'ws')} MARKET_DATA_URL=${url}`;
    expect(text).toMatch(new RegExp(`^${variables} TOKENS_URL=${url}/coins/tokenlist npm start$`, 'm'));
    await expectStop(child, 'SIGINT');
  });

  test('can be several nodes, prints all URLs, and exits with 0 on SIGTERM', async () => {
    const { child, text } = await start('--nodes', '3');
    const [, urls = [], wsUrls] = [...(/^FULLNODE_URL=(\S+) FULLNODE_WS_URL=(\S+) /m.exec(text) ?? [])].map((group) =>
      group.split(','),
    );
    expect(new Set(wsUrls).size).toBe(3);
    const body = JSON.stringify({ id: 1, jsonrpc: '1.0', method: 'getblockchaininfo', params: [] });
    const tips = urls.map(
      async (url) => (await (await fetch(url, { method: 'POST', body })).json()).Result.BestBlocks['-1'],
    );
    const hashes = (await Promise.all(tips)).map(({ Hash }) => Hash);
    expect([urls.length, new Set(urls).size, new Set(hashes).size]).toEqual([3, 3, 1]);
    await expectStop(child, 'SIGTERM');
  });

  test('can put several nodes behind one URL, and exits with 0 on SIGHUP', async () => {
    const { child, text } = await start('--nodes', '2', '--one-url');
    const urls = /^FULLNODE_URL=(\S+) /m.exec(text)?.[1]?.split(',') ?? [];
    expect(urls).toHaveLength(1);
    expect(text.startsWith(`Nodes are simulated on ${urls[0]},`)).toBe(true);
    await expectStop(child, 'SIGHUP');
  });

  test.each([['--nope'], ['--seed', 'seven'], ['--node-port', '70000'], ['--nodes', '0'], ['word']])(
    'refuses %s %s with the usage and exit code 2',
    async (...args) => {
      await expect(run(...args)).rejects.toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('Usage:'),
      });
    },
  );

  test('reports in one line that a port is in use', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const { port } = new URL(sandbox.nodeUrl);
    await expect(run('--node-port', port)).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: `Port ${port} is taken; choose others with --node-port, --push-port, --market-data-port and --tokens-port.\n`,
    });
  });

  test('prints its usage', async () => {
    const { stdout } = await run('--help');
    expect(stdout).toContain('--market-data-port <port>');
  });
});
