import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { createClient } from 'graphql-ws';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { dataOf } from '../support/events.ts';
import { type Answer, startGatewayForTest } from '../support/gateway.ts';
import { freePort } from '../support/ports.ts';
import { openSubscribers, type SubscriptionTransport } from '../support/subscribers.ts';
import { endWithTest } from '../support/websocket.ts';

const HEAD = 'subscription { head { beaconHeight } }';
const PRICES = 'subscription { prices { beaconHeight } }';

const BEAT_MS = 5;

/** The most beats from the end of a client's part of the window until it is disconnected: a sixth of the window. */
const MAX_BEATS_LATE = 100;

/** Notes the time of each beat of the event loop. On a busy machine they are rare, and a client may be late by few of them. */
function startBeats() {
  const beats: number[] = [];
  const interval = setInterval(() => beats.push(performance.now()), BEAT_MS);
  onTestFinished(() => clearInterval(interval));
  return { between: (from: number, to: number) => beats.filter((beat) => from < beat && beat <= to).length };
}

describe('the clients of a gateway that stops', () => {
  test.each<SubscriptionTransport>(['websocket', 'events'])('are disconnected one by one: %s', async (transport) => {
    const count = 100;
    const windowMs = 3_000;
    const { app } = await startGatewayForTest({ config: { stopWindowMs: windowMs, headPollMs: 60_000 } });
    const subscribers = await openSubscribers(await app.listen(0, '127.0.0.1'), transport, count, PRICES);
    const { between } = startBeats();
    const start = performance.now();
    const times: number[] = [];
    const ends = subscribers.map(({ socket }) => once(socket, 'close').then(() => times.push(performance.now())));
    await Promise.all([app.close(), ...ends]);

    const dueAt = (place: number) => start + (windowMs * place) / count;
    // A timer may be a millisecond early.
    const early = times.filter((time, place) => time < dueAt(place) - 2);
    const late = times.filter((time, place) => between(dueAt(place + 1), time) > MAX_BEATS_LATE);
    expect([times.length, early, late]).toEqual([count, [], []]);
  });

  test('are all served again by the gateway that takes its port', async () => {
    const first = await startGatewayForTest({ config: { stopWindowMs: 500, headPollMs: 60_000 } });
    // If the port were one of those for outgoing connections, a client could connect to itself, and take it.
    const url = await first.app.listen(await freePort(), '127.0.0.1');
    const second = await startGatewayForTest({
      config: { headPollMs: 60_000 },
      before: (sandbox) => sandbox.advance(7),
    });
    const { height } = second.sandbox.chain.tip;

    const clients = Array.from({ length: 50 }, () => connectWithRetries(url));
    const streams = clients.map((client) => client.iterate({ query: HEAD }) as AsyncIterableIterator<Answer>);
    await Promise.all(streams.map((stream) => stream.next()));
    await first.app.close();
    await second.app.listen(Number(new URL(url).port), '127.0.0.1');
    await Promise.all(streams.map((stream) => untilHeight(stream, height)));
  });
});

async function untilHeight(stream: AsyncIterable<Answer>, height: number): Promise<void> {
  for await (const data of dataOf(stream)) if (isDeepStrictEqual(data, { head: { beaconHeight: height } })) return;
  throw new Error('the subscription has ended');
}

function connectWithRetries(url: string) {
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: () => new Promise((resolve) => setTimeout(resolve, 200)),
  });
  endWithTest(client);
  return client;
}
