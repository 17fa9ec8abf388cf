import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { text as readText } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../src/sandbox/http/listen.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';
import { BTC } from '../support/tokens.ts';

const ROOT = new URL('../../', import.meta.url);

function startSwap(...args: string[]) {
  const child = spawn(process.execPath, ['examples/swap/swap.ts', ...args], { cwd: ROOT, stdio: 'pipe' });
  onTestFinished(() => void child.kill());
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  /** Reads an update of five lines. */
  const readUpdate = async () => {
    const update = [];
    for (let line = 0; line < 5; line++) update.push(String((await lines.next()).value).trim());
    return update;
  };
  return { child, ended, readUpdate, lines, errors: readText(child.stderr) };
}

const whole = (units: string) => units.padStart(10, '0').replace(/(\d{9})$/, '.$1');

test('the example shows the quote of a trade at each height', async () => {
  const { url, ask, sandbox } = await serveGatewayForTest();
  const link = sandbox.chain.tokens.find(({ symbol }) => symbol === 'LINK')?.id;
  const { readUpdate } = startSwap('LINK', 'BTC', '100.5', url);
  for (let update = 0; update < 3; update++) {
    const shown = await readUpdate();
    const { data } = await ask(`{ quote(sellTokenId: "${link}", buyTokenId: "${BTC}", sellAmount: "100500000000") {
      beaconHeight buyAmount minimumReceived price priceImpactPercent route { buyToken { symbol } }
    } }`);
    const { beaconHeight, buyAmount, minimumReceived, price, priceImpactPercent, route } = data.quote;
    expect(beaconHeight).toBe(sandbox.chain.tip.height);
    const symbols = route.map(({ buyToken }: { buyToken: { symbol: string } }) => buyToken.symbol);
    expect(shown).toEqual([
      `Beacon height ${beaconHeight}`,
      `100.5 LINK give ${whole(buyAmount)} BTC`,
      `at least ${whole(minimumReceived)} BTC with 0.5 % slippage`,
      `price ${price} LINK per BTC, price impact ${priceImpactPercent.toFixed(3)} %`,
      `route ${['LINK', ...symbols].join(' > ')}`,
    ]);
    sandbox.advance();
  }
});

test('the example says that there is no route', async () => {
  const { url } = await serveGatewayForTest();
  const { lines } = startSwap('LINK', 'BTC', '0.000000001', url);
  expect((await lines.next()).value).toBe('There is no route from LINK to BTC for 0.000000001.');
});

test('the reader of the example also reads events that have an id, as those of other subscriptions', async () => {
  const tokens = ['A', 'B'].map((symbol) => ({ tokenId: symbol, symbol, decimals: 9, poolCount: 1 }));
  const server = createServer((request, response) => {
    if (request.headers.accept === 'application/json') return response.end(JSON.stringify({ data: { tokens } }));
    response.setHeader('content-type', 'text/event-stream');
    return response.write('event: next\nid: 5\ndata: {"data":{"quote":null}}\n\n');
  });
  onTestFinished(() => void server.close().closeAllConnections());
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  const { lines } = startSwap('A', 'B', '1', `http://127.0.0.1:${port}/graphql`);
  expect((await lines.next()).value).toBe('There is no route from A to B for 1.');
});

test('while an upstream fails, the example says so, and goes on with the next update', async () => {
  const tokens = ['A', 'B'].map((symbol) => ({ tokenId: symbol, symbol, decimals: 9, poolCount: 1 }));
  const server = createServer((request, response) => {
    if (request.headers.accept === 'application/json') return response.end(JSON.stringify({ data: { tokens } }));
    response.setHeader('content-type', 'text/event-stream');
    const failed = { data: { quote: null }, errors: [{ message: 'The node cannot be read.' }] };
    response.write(`event: next\ndata: ${JSON.stringify(failed)}\n\n`);
    return response.write('event: next\ndata: {"data":{"quote":null}}\n\n');
  });
  onTestFinished(() => void server.close().closeAllConnections());
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  const { child, errors, lines } = startSwap('A', 'B', '1', `http://127.0.0.1:${port}/graphql`);
  expect((await lines.next()).value).toBe('There is no route from A to B for 1.');
  child.kill();
  expect(await errors).toBe('The node cannot be read.\n');
});

test('the example gives the reason of a gateway that refuses the subscription, and exits with 1', async () => {
  const tokens = ['A', 'B'].map((symbol) => ({ tokenId: symbol, symbol, decimals: 9, poolCount: 1 }));
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.headers.accept === 'application/json') return response.end(JSON.stringify({ data: { tokens } }));
    response.statusCode = 429;
    return response.end(JSON.stringify({ errors: [{ message: 'Too many requests.' }] }));
  });
  onTestFinished(() => void server.close().closeAllConnections());
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  const { ended, errors } = startSwap('A', 'B', '1', `http://127.0.0.1:${port}/graphql`);
  expect([await errors, await ended]).toEqual(['Too many requests.\n', 1]);
});

test('the example waits for as long as a gateway says that refuses it after it was connected', async () => {
  const tokens = ['A', 'B'].map((symbol) => ({ tokenId: symbol, symbol, decimals: 9, poolCount: 1 }));
  const receivedAt: number[] = [];
  const server = createServer((request, response) => {
    if (request.headers.accept === 'application/json') return response.end(JSON.stringify({ data: { tokens } }));
    receivedAt.push(performance.now());
    if (receivedAt.length === 2) {
      response.writeHead(429, { 'retry-after': '3' });
      return response.end(JSON.stringify({ errors: [{ message: 'Too many requests.' }] }));
    }
    response.setHeader('content-type', 'text/event-stream');
    return response.end('event: next\ndata: {"data":{"quote":null}}\n\n');
  });
  onTestFinished(() => void server.close().closeAllConnections());
  const port = await listen(server, { host: '127.0.0.1', port: 0 });
  const { lines } = startSwap('A', 'B', '1', `http://127.0.0.1:${port}/graphql`);
  await lines.next();
  await lines.next();
  const [, refusedAt = 0, againAt = 0] = receivedAt;
  expect(againAt - refusedAt).toBeGreaterThan(2_900);
});

test('the example connects again to the gateway that takes the place of one that stopped', async () => {
  const gateway = await serveGatewayForTest();
  const { height } = gateway.sandbox.chain.tip;
  const { readUpdate } = startSwap('PRV', 'BTC', '1', gateway.url);
  expect((await readUpdate())[0]).toBe(`Beacon height ${height}`);
  await gateway.replace(5);
  expect((await readUpdate())[0]).toBe(`Beacon height ${height + 5}`);
});

test.each([
  [['NONE', 'BTC', '1'], 'No token has the symbol or id NONE.\n'],
  [['PRV', 'BTC', '1.0000000001'], '1.0000000001 is no amount with 9 decimals.\n'],
  [['PRV', 'BTC', 'much'], 'much is no amount with 9 decimals.\n'],
  [['PRV', 'PRV', '1'], 'sellTokenId and buyTokenId are the same token.\n'],
  [['PRV', 'BTC', '0'], 'sellAmount is 0. It must be greater than 0.\n'],
])('with %j, the example says what is wrong, and exits with 1', async (args, message) => {
  const { url } = await serveGatewayForTest();
  const { ended, errors } = startSwap(...args, url);
  expect([await errors, await ended]).toEqual([message, 1]);
});

test('the example lists the tokens that share a symbol, and takes the id of one', async () => {
  const { url, ask } = await serveGatewayForTest({ sandbox: { exchange: 'v3' } });
  const { data } = await ask('{ tokens { tokenId symbol poolCount } }');
  const named: { tokenId: string; poolCount: number }[] = data.tokens
    .filter(({ symbol }: { symbol: string | null }) => symbol === 'USDT')
    .toSorted((a: { poolCount: number }, b: { poolCount: number }) => b.poolCount - a.poolCount);
  expect(named).toHaveLength(2);
  const { ended, errors } = startSwap('PRV', 'USDT', '100', url);
  const lines = named.map(({ tokenId, poolCount }) => `  ${tokenId} (pools: ${poolCount})\n`);
  expect([await errors, await ended]).toEqual([
    `2 tokens have the symbol USDT. Use the id of one:\n${lines.join('')}`,
    1,
  ]);
  const { readUpdate } = startSwap('PRV', named[0]?.tokenId ?? '', '100', url);
  expect((await readUpdate())[1]).toMatch(/^100 PRV give [\d.]+ USDT$/);
});

test('the example names the endpoint if the URL is another page of the gateway', async () => {
  const { url } = await serveGatewayForTest();
  const { origin } = new URL(url);
  const { ended, errors } = startSwap('PRV', 'BTC', '1', origin);
  const message = `${origin} is no endpoint of a gateway. An example is http://127.0.0.1:4000/graphql\n`;
  expect([await errors, await ended]).toEqual([message, 1]);
});

test('the example refuses a URL without http', async () => {
  const { ended, errors } = startSwap('PRV', 'BTC', '1', 'localhost:4000/graphql');
  const message = 'localhost:4000/graphql is no endpoint of a gateway. An example is http://127.0.0.1:4000/graphql\n';
  expect([await errors, await ended]).toEqual([message, 1]);
});

test('the example says that there is no gateway, and exits with 1', async () => {
  const { ended, errors } = startSwap('PRV', 'BTC', '1', 'http://127.0.0.1:1/graphql');
  expect([await errors, await ended]).toEqual(['No gateway responds at http://127.0.0.1:1/graphql.\n', 1]);
});
