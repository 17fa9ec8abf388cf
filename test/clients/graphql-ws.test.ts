import { type Client, type ClientOptions, createClient } from 'graphql-ws';
import { describe, expect, test } from 'vitest';
import { type ServedGateway, serveGatewayForTest } from '../support/served-gateway.ts';
import { endWithTest } from '../support/websocket.ts';

const HEAD = { query: 'subscription { head { beaconHeight } }' };
const head = (beaconHeight: number) => ({ data: { head: { beaconHeight } } });

function connect({ webSocketUrl }: ServedGateway, options: Partial<ClientOptions> = {}): Client {
  const client = createClient({ url: webSocketUrl, ...options });
  endWithTest(client);
  return client;
}

describe('graphql-ws', () => {
  test('iterates over several heights, and ends where the reader leaves', async () => {
    const gateway = await serveGatewayForTest();
    const start = gateway.sandbox.chain.tip.height;
    const updates = [];
    for await (const update of connect(gateway).iterate(HEAD)) {
      updates.push(update);
      if (updates.length === 4) break;
      gateway.sandbox.advance();
    }
    expect(updates).toEqual([0, 1, 2, 3].map((n) => head(start + n)));
    await expect.poll(gateway.app.service.sources.head.subscribers).toBe(0);
  });

  test.each([
    ['opened by the first operation and closed after the last, as it comes', true, ['asks', 'connected', 'closed']],
    ['open before the first operation and after the last, where it is not lazy', false, ['connected', 'asks']],
  ])('has a socket %s', async (_name, lazy, expected) => {
    const gateway = await serveGatewayForTest();
    const events: string[] = [];
    const { promise: connected, resolve: noteConnected } = Promise.withResolvers<unknown>();
    const { promise: closed, resolve: noteClosed } = Promise.withResolvers<unknown>();
    const client = connect(gateway, { lazy, on: { connected: noteConnected, closed: noteClosed } });
    client.on('connected', () => events.push('connected'));
    client.on('closed', () => events.push('closed'));
    if (!lazy) await connected;
    events.push('asks');
    const answer = client.iterate({ query: '{ service { sandbox } }' });
    expect((await answer.next()).value).toEqual({ data: { service: { sandbox: true } } });
    expect((await answer.next()).done).toBe(true);
    if (lazy) await closed;
    expect(events).toEqual(expected);
  });

  test('carries several subscriptions and a query on one socket', async () => {
    const gateway = await serveGatewayForTest();
    const start = gateway.sandbox.chain.tip.height;
    let sockets = 0;
    const client = connect(gateway, { on: { opened: () => sockets++ } });
    const heads = client.iterate(HEAD);
    const prices = client.iterate({ query: 'subscription { prices { beaconHeight } }' });
    for (const height of [start, start + 1, start + 2]) {
      expect((await heads.next()).value).toEqual(head(height));
      expect((await prices.next()).value).toEqual({ data: { prices: { beaconHeight: height } } });
      expect((await client.iterate({ query: '{ beaconHeight }' }).next()).value).toEqual({
        data: { beaconHeight: height },
      });
      gateway.sandbox.advance();
    }
    expect(sockets).toBe(1);
  });

  test('goes on with the gateway that takes the place of one that stopped', async () => {
    const gateway = await serveGatewayForTest();
    const start = gateway.sandbox.chain.tip.height;
    const { promise: isReplaced, resolve: replaced } = Promise.withResolvers<void>();
    const codes: number[] = [];
    const client = connect(gateway, {
      retryWait: () => isReplaced,
      on: { closed: (event) => codes.push((event as CloseEvent).code) },
    });
    const updates = client.iterate(HEAD);
    expect((await updates.next()).value).toEqual(head(start));

    const next = await gateway.replace(5);
    replaced();
    expect((await updates.next()).value).toEqual(head(start + 5));
    next.sandbox.advance();
    expect((await updates.next()).value).toEqual(head(start + 6));
    expect(codes).toEqual([1001]);
  });

  test('gives up an operation that is refused, with its code, and keeps the socket', async () => {
    const gateway = await serveGatewayForTest();
    const start = gateway.sandbox.chain.tip.height;
    let sockets = 0;
    const client = connect(gateway, { on: { opened: () => sockets++ } });
    const heads = client.iterate(HEAD);
    await heads.next();
    const coded = (code: string) => expect.objectContaining({ extensions: { code } });
    await expect(client.iterate({ query: 'subscription { nothing }' }).next()).rejects.toEqual([
      coded('GRAPHQL_VALIDATION_FAILED'),
    ]);
    const refused = client.iterate({ query: 'subscription { prices(tokenIds: []) { beaconHeight } }' });
    expect(await refused.next()).toEqual({ done: false, value: { errors: [coded('BAD_USER_INPUT')] } });
    expect(await refused.next()).toEqual({ done: true, value: undefined });
    gateway.sandbox.advance();
    expect((await heads.next()).value).toEqual(head(start + 1));
    expect(sockets).toBe(1);
  });
});
