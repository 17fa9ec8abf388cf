import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { text as readText } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { serveGatewayForTest } from '../support/served-gateway.ts';
import { PRV } from '../support/tokens.ts';

const ROOT = new URL('../../', import.meta.url);

/** Starts the board, whose output is no terminal. */
function startBoard(url: string) {
  const child = spawn(process.execPath, ['examples/board/board.ts', url], { cwd: ROOT, stdio: 'pipe' });
  onTestFinished(() => void child.kill());
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  /** Reads an update: the line with its height, and fifteen pools. */
  const readUpdate = async () => {
    const update = [];
    for (let line = 0; line < 16; line++) update.push(String((await lines.next()).value));
    return update;
  };
  return { child, ended, readUpdate, errors: readText(child.stderr) };
}

type Pool = {
  readonly price: number;
  readonly token1PoolValue: string;
  readonly token2: { readonly symbol: string };
};

test('the board shows each height with the prices of its most liquid pools, and how they have changed', async () => {
  const { webSocketUrl, ask, sandbox } = await serveGatewayForTest();
  const { readUpdate } = startBoard(webSocketUrl);
  const readPools = async (): Promise<readonly Pool[]> => {
    const list = `poolPairs(first: 15, orderBy: NATIVE_LIQUIDITY_DESC, filter: { tokenId: "${PRV}" })`;
    const { data } = await ask(`{ ${list} { nodes { price token1PoolValue token2 { symbol } } } }`);
    return data.poolPairs.nodes;
  };
  const first = new Map<string, number>();
  for (let update = 0; update < 3; update++) {
    const [title, ...rows] = await readUpdate();
    const { height, time } = sandbox.chain.tip;
    expect(title).toBe(`Beacon height ${height}, ${new Date(time * 1_000).toISOString()}`);
    const pools = await readPools();
    for (const { token2, price } of pools) first.set(token2.symbol, first.get(token2.symbol) ?? price);
    const percentOf = ({ price, token2 }: Pool) =>
      ((price / (first.get(token2.symbol) ?? Number.NaN) - 1) * 100).toFixed(2);
    expect(rows.map((row) => row.trim().split(/ +/))).toEqual(
      pools.map((pool) => [pool.token2.symbol, pool.price.toFixed(9), percentOf(pool), '%']),
    );
    sandbox.advance();
  }
});

test('the board connects again to the gateway that takes the place of one that stopped', async () => {
  const gateway = await serveGatewayForTest();
  const { height } = gateway.sandbox.chain.tip;
  const { child, readUpdate, errors } = startBoard(gateway.webSocketUrl);
  expect((await readUpdate())[0]).toContain(`Beacon height ${height},`);
  await gateway.replace(5);
  expect((await readUpdate())[0]).toContain(`Beacon height ${height + 5},`);
  child.kill();
  expect(await errors).toMatch(/^(The connection is lost. Connecting again.\n)+$/);
});

test.each([
  [
    'ws://127.0.0.1:1',
    'No gateway responds at ws://127.0.0.1:1. Start one, or pass the URL of another endpoint, which ends with /graphql\n',
  ],
  ['localhost', 'localhost is no address of a gateway. An example is ws://127.0.0.1:4000/graphql\n'],
])('the board says that there is no gateway at %s, and exits with 1', async (url, message) => {
  const { ended, errors } = startBoard(url);
  expect([await errors, await ended]).toEqual([message, 1]);
});

test('the board shows the error of a gateway without prices, and exits with 1', async () => {
  const { webSocketUrl } = await serveGatewayForTest({ without: 'NODE' });
  const { ended, errors } = startBoard(webSocketUrl);
  expect([await errors, await ended]).toEqual(['The node is not configured.\n', 1]);
});

test('the board ends with the program that reads its output', async () => {
  const gateway = await serveGatewayForTest();
  const { child, ended, errors, readUpdate } = startBoard(gateway.webSocketUrl);
  await readUpdate();
  child.stdout.destroy();
  gateway.sandbox.advance();
  expect([await ended, await errors]).toEqual([0, '']);
});

test.each(['board', 'swap'])('a copy of %s installs the Node and the packages with which it is tested', (name) => {
  const read = (path: string) => JSON.parse(readFileSync(new URL(path, ROOT), 'utf8'));
  const ours = read('package.json');
  const { dependencies, devDependencies, engines, allowScripts } = read(`examples/${name}/package.json`);
  const ranges = { ...dependencies, ...devDependencies };
  const tested = Object.entries({ ...ours.devDependencies, ...ours.dependencies }).filter(([name]) => name in ranges);
  expect(ranges).toEqual(Object.fromEntries(tested));
  expect(Object.keys(ranges)).toContain('node');
  expect([engines, allowScripts]).toEqual([ours.engines, { node: ours.allowScripts.node }]);
});
