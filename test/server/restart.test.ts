import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { createClient } from 'graphql-ws';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { type Answer, startGatewayForTest } from '../support/gateway.ts';
import { freePort } from '../support/ports.ts';
import { openSubscribers, type SubscriptionTransport } from '../support/subscribers.ts';

const HEAD = 'subscription { head { beaconHeight } }';
const PRICES = 'subscription { prices { beaconHeight } }';

/** Where the machine stops for a second, the clients of that second are disconnected together. */
const AGAIN_IF_BUSY = { retry: 3 };

describe('the clients of a gateway that stops', () => {
  test.each<SubscriptionTransport>(['websocket', 'events'])(
    'are disconnected one by one: %s',
    AGAIN_IF_BUSY,
    async (transport) => {
      const count = 300;
      const windowMs = 3_000;
      const { app } = await startGatewayForTest({ config: { stopWindowMs: windowMs } });
      const subscribers = await openSubscribers(await app.listen(0, '127.0.0.1'), transport, count, PRICES);
      const start = performance.now();
      const times: number[] = [];
      const ends = subscribers.map(({ socket }) =>
        once(socket, 'close').then(() => times.push(performance.now() - start)),
      );
      await Promise.all([app.close(), ...ends]);

      // Each third of the window has about its third of the clients: a busy machine is less exact.
      const thirds = [0, 1, 2].map((third) =>
        times.filter((time) => Math.min(2, Math.floor((3 * time) / windowMs)) === third),
      );
      for (const { length } of thirds) expect(Math.abs(length - count / 3)).toBeLessThan(count / 6);
    },
  );

  test('are all served again by the gateway that takes its port', async () => {
    const first = await startGatewayForTest({ config: { stopWindowMs: 500 } });
    // If the port were one of those for outgoing connections, a client could connect to itself, and take it.
    const url = await first.app.listen(await freePort(), '127.0.0.1');
    const second = await startGatewayForTest({ before: (sandbox) => sandbox.advance(7) });
    const { height } = second.sandbox.chain.tip;

    const clients = Array.from({ length: 200 }, () => connectWithRetries(url));
    const streams = clients.map((client) => client.iterate({ query: HEAD }) as AsyncIterableIterator<Answer>);
    await Promise.all(streams.map((stream) => stream.next()));
    await first.app.close();
    await second.app.listen(Number(new URL(url).port), '127.0.0.1');
    await Promise.all(streams.map((stream) => untilHeight(stream, height)));
  });
});

async function untilHeight(stream: AsyncIterable<Answer>, height: number): Promise<void> {
  for await (const { data } of stream) {
    if (data === undefined || data === null) throw new Error('an answer without data');
    if (isDeepStrictEqual(data, { head: { beaconHeight: height } })) return;
  }
  throw new Error('the subscription has ended');
}

function connectWithRetries(url: string) {
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: 100,
    shouldRetry: () => true,
    retryWait: () => new Promise((resolve) => setTimeout(resolve, 50)),
  });
  onTestFinished(async () => client.dispose());
  return client;
}
