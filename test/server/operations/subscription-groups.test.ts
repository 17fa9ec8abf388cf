import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import type { EncodedUpdate } from '../../../src/server/operations/encoded-response.ts';
import { type AsyncValues, toAsyncValues } from '../../support/async-values.ts';
import { startGatewayForTest, type TestGatewayOptions } from '../../support/gateway.ts';
import { sample } from '../../support/metrics.ts';
import { createTestPipeline, testClient } from '../../support/pipeline.ts';
import { BTC, PRV } from '../../support/tokens.ts';
import { openSocket } from '../../support/transports.ts';
import { mostInOneTurn } from '../../support/turns.ts';

/** Groups over the sources of a gateway. A member requests updates when the test does. */
async function openGroups(options?: TestGatewayOptions) {
  const gateway = await startGatewayForTest(options);
  await gateway.untilReady();
  const { service } = gateway.app;
  const metrics = createMetrics('test');
  const pipeline = createTestPipeline({ service, metrics });

  async function join(query: string, variables = {}): Promise<AsyncValues<EncodedUpdate>> {
    const prepared = await pipeline.prepare({ query, variables }, testClient());
    if (prepared.errors !== undefined) throw new Error(JSON.stringify(prepared.errors));
    const started = await pipeline.subscribe(prepared);
    if (!('updates' in started)) throw new Error(JSON.stringify(started));
    return toAsyncValues(started.updates);
  }
  const joinMany = (count: number, query: string, variables?: object) =>
    Promise.all(Array.from({ length: count }, () => join(query, variables)));

  return { ...gateway, metrics, join, joinMany };
}

const nextOf = (members: readonly AsyncValues<EncodedUpdate>[]) =>
  Promise.all(members.map(async (member) => (await member.next()).value));

const countOf = (updates: readonly unknown[]) => new Set(updates).size;

const dataOf = (update: EncodedUpdate | undefined) => JSON.parse(update?.toText() ?? '').data;

describe('an update is executed and encoded once', () => {
  test('for three hundred subscribers of one operation, and twice for two operations', async () => {
    const { joinMany, advance, metrics, app } = await openGroups();
    const prices = await joinMany(300, 'subscription { prices { beaconHeight previousHeight poolPairs { id } } }');
    const heads = await joinMany(300, 'subscription { head { beaconHeight hash } }');
    expect(countOf(await nextOf([...prices, ...heads]))).toBe(2);
    const next = nextOf([...prices, ...heads]);
    await advance();
    expect(countOf(await next)).toBe(2);
    expect(sample(await metrics.text(), 'pdex_operations_total{type="update",outcome="whole"}')).toBe(1_200);
    await Promise.all([...prices, ...heads].map((member) => member.return?.()));
    await expect.poll(() => app.service.sources.head.subscribers()).toBe(0);
  });

  test('for a hundred that follow the same quote, whose amount is a variable, and twice for two amounts', async () => {
    const { joinMany, advance } = await openGroups();
    const query = `subscription ($amount: BigInt) { quote(sellTokenId: "${PRV}", buyTokenId: "${BTC}", sellAmount: $amount) { buyAmount } }`;
    const members = [
      ...(await joinMany(100, query, { amount: '1000000000' })),
      ...(await joinMany(100, query, { amount: '1000000001' })),
    ];
    expect(countOf(await nextOf(members))).toBe(2);
    const next = nextOf(members);
    await advance();
    expect(countOf(await next)).toBe(2);
    await Promise.all(members.map((member) => member.return?.()));
  });

  test('for hundreds that resume after the same height, at each height that they missed', async () => {
    const { joinMany, advance, sandbox } = await openGroups();
    const after = sandbox.chain.tip.height;
    for (let height = 0; height < 3; height++) await advance();
    const query = 'subscription ($after: BeaconHeight) { prices(afterHeight: $after) { beaconHeight previousHeight } }';
    const members = await joinMany(200, query, { after });
    for (const height of [1, 2, 3]) {
      const updates = await nextOf(members);
      expect(countOf(updates)).toBe(1);
      expect(dataOf(updates[0]).prices).toEqual({ beaconHeight: after + height, previousHeight: after + height - 1 });
    }
  });

  test('for subscribers with the same variables, but not with others', async () => {
    const { join } = await openGroups();
    const query = 'subscription ($tokenIds: [TokenId!]) { prices(tokenIds: $tokenIds) { poolPairs { id } } }';
    const of = async (tokenIds?: readonly string[]) => nextOf([await join(query, { tokenIds })]);
    const updates = [await of([BTC]), await of([BTC]), await of()].flat();
    expect(updates[0]).toBe(updates[1]);
    expect(dataOf(updates[2]).prices.poolPairs.length).toBeGreaterThan(dataOf(updates[0]).prices.poolPairs.length);
  });
});

test('at a new height, few operations and few members of one are sent an update in one turn of the event loop', async () => {
  const { join, joinMany, advance } = await openGroups();
  const joining = Array.from({ length: 100 }, (_, n) => join(`subscription { head { a${n}: beaconHeight } }`));
  const operations = await Promise.all(joining);
  // All of them wait for one update, which is executed after those of the others.
  const members = await joinMany(100, 'subscription { head { beaconHeight } }');
  await nextOf([...operations, ...members]);
  const mostOf = (all: typeof members) => mostInOneTurn(all.map((member) => member.next()));
  const [ofOperations, ofMembers] = [mostOf(operations), mostOf(members)];
  await advance();
  expect(await ofOperations).toBeLessThanOrEqual(8);
  expect(await ofMembers).toBeLessThanOrEqual(32);
});

describe('a member that skipped heights', () => {
  test('gets its previous height, and the changes since then', async () => {
    const { join, advance } = await openGroups();
    const query =
      'subscription { prices(onlyChanged: true) { beaconHeight previousHeight missedHeights poolPairs { id token1PoolValue } } }';
    // The third is alone in its group, and does the same as the second.
    const [quick, slow, alone] = await Promise.all([join(query), join(query), join(`${query} `)]);
    const first = await nextOf([quick, slow, alone]);
    const seen = new Set<string>();
    for (let height = 0; height < 3; height++) {
      await advance();
      const [update] = await nextOf([quick]);
      for (const { id } of dataOf(update).prices.poolPairs) seen.add(id);
      expect(dataOf(update).prices.missedHeights).toBe(0);
    }
    const [late, expected] = await nextOf([slow, alone]);
    const { prices } = dataOf(late);
    expect(late?.toText()).toBe(expected?.toText());
    expect(prices).toMatchObject({ previousHeight: dataOf(first[0]).prices.beaconHeight, missedHeights: 2 });
    for (const { id } of prices.poolPairs) expect(seen).toContain(id);
  });
});

describe('a member that joins later at the same height', () => {
  test('gets an age of its own', async () => {
    const { join, clock } = await openGroups();
    const query = 'subscription { head { ageMs } }';
    const [early] = await nextOf([await join(query)]);
    clock.now += 1_500;
    const [late] = await nextOf([await join(query)]);
    expect(dataOf(late).head.ageMs).toBe(dataOf(early).head.ageMs + 1_500);
  });

  test('learns that its head is stale', async () => {
    const { join, clock } = await openGroups();
    const query = 'subscription { head { stale } }';
    expect(dataOf((await nextOf([await join(query)]))[0]).head.stale).toBe(false);
    clock.now += 200_001;
    expect(dataOf((await nextOf([await join(query)]))[0]).head.stale).toBe(true);
  });

  test('gets what has changed since then', async () => {
    const { join, advance, sandbox } = await openGroups({ config: { marketPollMs: 60_000 } });
    const query = 'subscription { tickers(filter: { tickerIds: ["pBTC_PRV"] }) { poolPair { beaconHeight } } }';
    const [early] = await nextOf([await join(query)]);
    const { height } = sandbox.chain.tip;
    await advance();
    const [late, later] = [await nextOf([await join(query)]), await nextOf([await join(query)])].flat();
    expect([early, late].map((update) => dataOf(update).tickers[0].poolPair.beaconHeight)).toEqual([
      height,
      height + 1,
    ]);
    expect(later).toBe(late);
  });
});

test('the updates of one client have its share of the upstreams, those of several a share of their own', async () => {
  const { app, advance, untilReady } = await startGatewayForTest({ config: { orderBookTtlMs: 1 } });
  await untilReady();
  const clients: unknown[] = [];
  const { orderBooks } = app.service.sources;
  const read: typeof orderBooks.read = (tickerId, requester) => {
    clients.push(requester.client);
    return orderBooks.read(tickerId, requester);
  };
  const service = { ...app.service, sources: { ...app.service.sources, orderBooks: { ...orderBooks, read } } };
  const pipeline = createTestPipeline({ service });
  async function join(address: string): Promise<AsyncValues<EncodedUpdate>> {
    const query = `subscription { prices(tokenIds: ["${BTC}"]) { poolPairs { pairs { orderBook { timestamp } } } } }`;
    const prepared = await pipeline.prepare({ query }, { ...testClient(), address });
    if (prepared.errors !== undefined) throw new Error(JSON.stringify(prepared.errors));
    const started = await pipeline.subscribe(prepared);
    if (!('updates' in started)) throw new Error(JSON.stringify(started));
    return toAsyncValues(started.updates);
  }
  const one = await join('192.0.2.1');
  await one.next();
  expect(new Set(clients)).toEqual(new Set(['192.0.2.1']));

  const other = await join('192.0.2.2');
  const next = [one.next(), other.next().then(() => other.next())];
  await advance();
  await Promise.all(next);
  expect(clients.at(-1)).toBeTypeOf('symbol');
  await Promise.all([one, other].map((member) => member.return?.()));
});

describe('an update that is sent', () => {
  test.each([
    ['whole', 'subscription { prices { beaconHeight poolPairs { id price pairs { tickerId } } } }', {}],
    [
      'with errors',
      'subscription { prices { beaconHeight poolPairs { id pairs { tickerId } } } }',
      { without: 'MARKET_DATA' },
    ],
  ] as const)('is the same on a websocket, to the byte, as in an event: %s', async (name, query, options) => {
    const gateway = await startGatewayForTest(options);
    const url = await gateway.app.listen(0, '127.0.0.1');
    await gateway.untilReady();
    const socket = await openSocket(url);
    const messages: string[] = [];
    socket.on('message', (message) => messages.push(String(message)));
    for (const id of ['a', 'a "longer" one', 'ä']) {
      socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query } }));
    }
    const response = await fetch(`${url}?query=${encodeURIComponent(query)}`, {
      headers: { accept: 'text/event-stream' },
    });
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (/data: .*\n\n$/.test(text)) break;
    }
    const written = /^data: (.*)$/m.exec(text)?.[1] ?? '';
    await expect.poll(() => messages.length).toBe(3);
    // Errors first, as the specification recommends.
    expect(written.startsWith('{"errors":')).toBe(name === 'with errors');
    expect(messages.sort()).toEqual(
      ['a', 'a "longer" one', 'ä']
        .map((id) => `{"id":${JSON.stringify(id)},"type":"next","payload":${written}}`)
        .sort(),
    );

    for (const id of ['a', 'a "longer" one', 'ä']) socket.send(JSON.stringify({ type: 'complete', id }));
    await expect.poll(() => gateway.app.service.sources.head.subscribers()).toBe(0);
    socket.close();
    await once(socket, 'close');
  });
});
