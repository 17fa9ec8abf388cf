import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { createHealthRecord } from '../../src/upstream/health.ts';
import { createBlockPush } from '../../src/upstream/node/block-push.ts';
import { createTokenService } from '../../src/upstream/token-service.ts';
import { fixedSandbox } from '../sandbox/support.ts';
import { httpForTest, marketDataAt, nodeAt } from './connect.ts';

// RFC 8259, section 8.1: a parser of JSON may ignore a byte order mark.
const MARK = Buffer.from('\ufeff');

/** Starts a proxy that adds a byte order mark to each response, in a chunk that ends inside of it. */
async function marked(target: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const body = request.method === 'POST' ? await Readable.from(request).toArray() : undefined;
    const sent = { method: request.method ?? '', ...(body && { body: Buffer.concat(body) }) };
    const received = await fetch(new URL(request.url ?? '', target), sent);
    response.writeHead(received.status, { 'content-type': 'application/json' }).write(MARK.subarray(0, 2));
    response.write(MARK.subarray(2));
    response.end(Buffer.from(await received.arrayBuffer()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { pathname } = new URL(target);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`;
}

test('a byte order mark before a response of an upstream is ignored', async () => {
  const sandbox = await fixedSandbox({ history: 5 });
  onTestFinished(sandbox.close);
  const read = async (nodeUrl: string, marketDataUrl: string, tokensUrl: string) => {
    const { client: node } = nodeAt(nodeUrl);
    const { client: host } = marketDataAt(marketDataUrl);
    const health = createHealthRecord('TOKENS', () => 100);
    const tokens = createTokenService({ http: httpForTest('MARKET_DATA'), url: new URL(tokensUrl), health });
    const tip = await node.beaconTip();
    const tickers = await host.tickers();
    return {
      ...{ tip, tickers, info: await node.chainInfo(), state: await node.newestStateV1(tip.height) },
      ...{ pairs: await host.pairs(), book: await host.orderBook(tickers.rows[0]?.tickerId ?? '') },
      ...{ unknown: await host.orderBook('no_ticker'), tokens: await tokens.list(undefined) },
    };
  };
  const { nodeUrl, marketDataUrl, tokensUrl } = sandbox;
  const expected = await read(nodeUrl, marketDataUrl, tokensUrl);
  expect(await read(await marked(nodeUrl), await marked(marketDataUrl), await marked(tokensUrl))).toEqual(expected);
});

test('a byte order mark before a frame that a node pushes is ignored', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => server.close());
  await once(server, 'listening');
  const Result = { Result: { Height: 7, Hash: 'ab' }, Subscription: 'x' };
  server.on('connection', (socket) =>
    socket.once('message', () => socket.send(Buffer.concat([MARK, Buffer.from(JSON.stringify({ Id: 1, Result }))]))),
  );
  const pushed = Promise.withResolvers<unknown>();
  const push = createBlockPush({
    ...{ name: 'node', url: new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`), headers: {} },
    ...{ timeoutMs: 5_000, isOn: true, firstPauseMs: 1, onChange() {} },
    onBlock: pushed.resolve,
    watcher: { failed: pushed.reject, pushing() {} },
  });
  onTestFinished(push.close);
  expect(await pushed.promise).toEqual({ height: 7, hash: 'ab' });
});
