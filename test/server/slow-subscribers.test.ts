import { once } from 'node:events';
import { connect as connectSocket, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startGatewayForTest, type TestGateway } from '../support/gateway.ts';
import { readSample } from '../support/metrics.ts';
import { repeat } from '../support/operations.ts';

/** About 1 MB an update, so that the buffers between gateway and subscriber are soon full. */
const PRICES = `subscription { prices { beaconHeight ${repeat(3, (n) => `p${n}: poolPairs { ...P }`)} } }
fragment P on PoolPair {
  id key price exactPrice inversePrice spotPrice token1PoolValue token2PoolValue token1 { id } token2 { id }
}`;

/** A client that does not read does not answer pings: on a busy machine, its connection would be closed before it reads again. */
const config = { keepAliveMs: 600_000 };

/** Heights that a subscriber skips before it reads again. */
const SKIPPED = 3;

/** Makes blocks while a subscriber does not read. Each is served before the next. @returns how many heights it skipped */
async function makeBlocks(gateway: TestGateway, url: URL): Promise<number> {
  for (;;) {
    await gateway.advance();
    const skipped = (await readSample(url, 'pdex_updates_skipped_total{source="head"}')) ?? 0;
    if (skipped >= SKIPPED) return skipped;
  }
}

test('a websocket that is not read skips heights, and nothing queues for it', async () => {
  const gateway = await startGatewayForTest({ config, sandbox: { pools: 300, sharesPerPool: 1, history: 5 } });
  const url = new URL(await gateway.app.listen(0, '127.0.0.1'));
  const socket = new WebSocket(url.href.replace('http', 'ws'), 'graphql-transport-ws');
  const heights: number[] = [];
  const untilTip = new Promise<void>((resolve) => {
    socket.on('message', (message) => {
      const height = /"beaconHeight":(\d+)/.exec(String(message))?.[1];
      if (height !== undefined) heights.push(Number(height));
      if (Number(height) === gateway.sandbox.chain.tip.height && heights.length > 1) resolve();
    });
  });
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  socket.send(JSON.stringify({ type: 'subscribe', id: 'slow', payload: { query: PRICES } }));
  await once(socket, 'message');
  expect(heights).toHaveLength(1);

  socket.pause();
  const skipped = await makeBlocks(gateway, url);
  socket.resume();
  await untilTip;
  expectSkipped(heights, skipped, gateway.sandbox.chain.tip.height);
  socket.terminate();
});

test('the gateway holds one update for a stalled event stream', async () => {
  const gateway = await startGatewayForTest({ config, sandbox: { pools: 150, sharesPerPool: 1, history: 5 } });
  const url = new URL(await gateway.app.listen(0, '127.0.0.1'));
  const socket = connectSocket(Number(url.port), url.hostname);
  const query = encodeURIComponent(PRICES);
  socket.write(`GET /graphql?query=${query} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`);
  await once(socket, 'data');
  socket.pause();
  const served = async () => (await gateway.ask('{ beaconHeight }')).data.beaconHeight;
  while (((await readSample(url, 'pdex_updates_skipped_total{source="head"}')) ?? 0) < 3) {
    gateway.sandbox.advance();
    await expect.poll(served, { interval: 10 }).toBe(gateway.sandbox.chain.tip.height);
  }
  const made = await readSample(url, 'pdex_operations_total{type="update",outcome="whole"}');

  // After an abort the client reads what the operating system has taken, and nothing that the gateway still holds.
  const closed = gateway.app.close();
  let text = '';
  for await (const chunk of socket) text += chunk;
  await closed;
  expect((made ?? 0) - text.split('}}}\n\n').length + 1).toBeLessThanOrEqual(1);
  expect(made).toBeGreaterThan(3);
});

test('an event stream that is not read skips heights, and nothing queues for it', async () => {
  const gateway = await startGatewayForTest({ config, sandbox: { pools: 300, sharesPerPool: 1, history: 5 } });
  const url = new URL(await gateway.app.listen(0, '127.0.0.1'));
  const socket = connectSocket(Number(url.port), url.hostname);
  const query = encodeURIComponent(PRICES);
  socket.write(`GET /graphql?query=${query} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`);
  await once(socket, 'data');

  socket.pause();
  const skipped = await makeBlocks(gateway, url);
  const { height: tip } = gateway.sandbox.chain.tip;
  expectSkipped(await heightsUntil(socket, tip), skipped, tip);
  socket.destroy();
});

async function heightsUntil(socket: Socket, tip: number): Promise<number[]> {
  let text = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.includes(`data: {"data":{"prices":{"beaconHeight":${tip}`)) break;
  }
  return [...text.matchAll(/data: \{"data":\{"prices":\{"beaconHeight":(\d+)/g)].map(([, height]) => Number(height));
}

/** Expects the heights that were in the buffers, then the newest. Nothing old comes in between, and each skipped height is counted. */
function expectSkipped(heights: readonly number[], skipped: number, tip: number): void {
  const [first = 0] = heights;
  expect(heights).toEqual([...heights.slice(0, -1).map((_, n) => first + n), tip]);
  expect(heights.length + skipped).toBe(tip - first + 1);
}
