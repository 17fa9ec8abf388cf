import { hash } from 'node:crypto';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { WebSocket } from 'ws';
import { ClientSocket } from '../../../src/server/websocket/client-socket.ts';
import type { TestGatewayOptions } from '../../support/gateway.ts';
import { sample } from '../../support/metrics.ts';
import { serveGatewayForTest } from '../../support/served-gateway.ts';
import { openSocket } from '../../support/transports.ts';

const QUIET = { headPollMs: 50, marketPollMs: 60_000 };

async function serve(options: TestGatewayOptions = {}) {
  const gateway = await serveGatewayForTest({ ...options, config: { ...QUIET, ...options.config } });
  await gateway.untilReady();
  return {
    ...gateway,
    async post(payload: object) {
      const headers = { 'content-type': 'application/json' };
      return (await fetch(gateway.url, { method: 'POST', headers, body: JSON.stringify(payload) })).text();
    },
    async open() {
      const socket = await openSocket(gateway.url);
      onTestFinished(() => socket.terminate());
      return socket;
    },
    async counted() {
      const text = await (await fetch(new URL('/metrics', gateway.url))).text();
      const from = (origin: string) => sample(text, `pdex_query_responses_total{from="${origin}"}`) ?? 0;
      return { cached: from('cached'), coalesced: from('coalesced'), executed: from('executed') };
    },
  };
}

/** The messages up to `complete` or `error` of one operation, which is sent as it is. */
async function messagesOf(socket: WebSocket, id: string, message: string): Promise<string[]> {
  const messages: string[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    socket.on('message', function onMessage(data) {
      const text = String(data);
      const { id: of, type } = JSON.parse(text);
      if (of !== id) return;
      messages.push(text);
      if (type === 'next') return;
      socket.off('message', onMessage).off('close', onClose);
      resolve();
    });
    const onClose = (code: number) => reject(new Error(`closed with ${code}`));
    socket.once('close', onClose);
  });
  socket.send(message);
  await ended;
  return messages;
}

const subscribe = (id: string, payload: object) => JSON.stringify({ id, type: 'subscribe', payload });
const send = (socket: WebSocket, payload: object, id = '1') => messagesOf(socket, id, subscribe(id, payload));
const refused = (id: string, code: string) => [expect.stringMatching(`^{"id":"${id}","type":"error".*"${code}"`)];

const HEIGHT = { query: '{ beaconHeight }' };

describe('a repeated query over a websocket', () => {
  test.each([
    ['short', { query: '{ poolPairs(first: 2) { nodes { id price } } }' }],
    [
      'long',
      { query: '{ poolPairs(first: 50) { nodes { id price exactPrice token1 { symbol } token2 { symbol } } } }' },
    ],
    [
      'longer than a frame of 64 KiB',
      { query: `{ ${'abcdefgh'.replace(/./g, '$&: poolPairs(first: 50) { nodes { id key price exactPrice } } ')} }` },
    ],
    ['beyond ASCII', { query: '{ beaconHeight } # é' }],
  ])('has the same bytes from the cache, executed and over HTTP: %s', async (_, payload) => {
    const { open, post, counted } = await serve();
    const socket = await open();
    const executed = await send(socket, payload);
    await send(socket, payload);
    const before = await counted();
    expect(await send(socket, payload)).toEqual(executed);
    expect(await post(payload)).toBe(executed[0]?.slice('{"id":"1","type":"next","payload":'.length, -1));
    expect(await counted()).toEqual({ ...before, cached: before.cached + 2 });
    expect(executed).toEqual([expect.any(String), '{"id":"1","type":"complete"}']);
  });

  test('is answered by the response that HTTP requests have stored, whatever its id', async () => {
    const { open, post, counted } = await serve();
    const texts = [await post(HEIGHT), await post(HEIGHT)];
    const [socket, other] = [await open(), await open()];
    for (const [on, id] of [
      [socket, 'a'],
      [socket, 'b'],
      [other, 'a'],
    ] as const)
      expect(await send(on, HEIGHT, id)).toEqual([
        `{"id":"${id}","type":"next","payload":${texts[0]}}`,
        `{"id":"${id}","type":"complete"}`,
      ]);
    expect(await counted()).toEqual({ cached: 3, coalesced: 0, executed: 2 });
  });

  test('has the same result if its message is written in an unusual way', async () => {
    const { open, counted } = await serve();
    const socket = await open();
    for (let n = 0; n < 3; n++) await send(socket, HEIGHT);
    const usual = await send(socket, HEIGHT);
    const payload = JSON.stringify(HEIGHT);
    expect(await messagesOf(socket, '1', `{"payload":${payload},"type":"subscribe","id":"1"}`)).toEqual(usual);
    expect(await counted()).toEqual({ cached: 3, coalesced: 0, executed: 2 });
    expect(await messagesOf(socket, 'é', `{"id":"é","type":"subscribe","payload":${payload}}`)).toEqual(
      usual.map((text) => text.replace('"1"', '"é"')),
    );
  });

  test('without its text is answered by its hash, also from the response that HTTP has stored', async () => {
    const { open, post, counted } = await serve();
    const named = { extensions: { persistedQuery: { version: 1, sha256Hash: hash('sha256', HEIGHT.query) } } };
    await post({ ...HEIGHT, ...named });
    for (let n = 0; n < 3; n++) expect(await post(named)).toContain('"data"');
    const before = await counted();
    const [next = ''] = await send(await open(), named);
    expect(JSON.parse(next)).toMatchObject({ type: 'next', payload: { data: expect.anything() } });
    expect(await counted()).toEqual({ ...before, cached: before.cached + 1 });
  });

  test('without its text and without an id is refused by the protocol', async () => {
    const { open } = await serve();
    const socket = await open();
    const closed = once(socket, 'close');
    socket.send(subscribe('1', { variables: {} }));
    expect((await closed)[0]).toBe(4400);
  });
});

describe('a cached response counts like an execution', () => {
  test('for the rate limit', async () => {
    const { open } = await serve({ config: { rateLimitPerSecond: 1, rateLimitBurst: 6 } });
    const socket = await open();
    const types = [];
    for (let n = 0; n < 6; n++) types.push(JSON.parse((await send(socket, HEIGHT))[0] ?? '').type);
    // The websocket itself has cost a point. The clock stands still.
    expect(types).toEqual(['next', 'next', 'next', 'next', 'next', 'error']);
    expect(await send(socket, HEIGHT)).toEqual(refused('1', 'RATE_LIMITED'));
  });

  test('for the open operations of a websocket', async () => {
    const { open, post } = await serve();
    for (let n = 0; n < 2; n++) await post(HEIGHT);
    const socket = await open();
    const subscription = { query: 'subscription { head { beaconHeight } }' };
    for (let n = 0; n < 100; n++) {
      socket.send(subscribe(`s${n}`, subscription));
      await once(socket, 'message');
    }
    expect(await send(socket, HEIGHT)).toEqual(refused('1', 'RATE_LIMITED'));
    socket.send('{"id":"s0","type":"complete"}');
    expect((await send(socket, HEIGHT))[1]).toBe('{"id":"1","type":"complete"}');
  });

  test('for the values of the open operations of a websocket', async () => {
    const { open, post } = await serve({ config: { maxValues: 490, maxValuesPerConnection: 500 } });
    const query = '{ poolPairs(first: 50) { nodes { id key price exactPrice token1PoolValue token2PoolValue } } }';
    for (let n = 0; n < 2; n++) await post({ query });
    const socket = await open();
    // An operation that is too complex is not executed, and adds no values. It can never succeed, so the error is not that of a rate.
    const [tooComplex] = await send(socket, { query: query.replace('id', 'id a: id b: id c: id d: id e: id') });
    expect(tooComplex).toContain('"QUERY_TOO_COMPLEX"');
    expect((await send(socket, { query }))[1]).toBe('{"id":"1","type":"complete"}');
    socket.send(subscribe('s', { query: 'subscription { prices { poolPairs { id price token1PoolValue } } }' }));
    await once(socket, 'message');
    expect(await send(socket, { query })).toEqual(refused('1', 'RATE_LIMITED'));
  });
});

describe('equal queries that wait for an upstream', () => {
  async function serveSlowly() {
    const gateway = await serve({ sandbox: { history: 20 } });
    const { sandbox } = gateway;
    // Opens the connection for HTTP.
    await gateway.post(HEIGHT);
    sandbox.node.faults.set({ kind: 'delay', ms: 1_000, on: 'getpdestate' });
    return { ...gateway, payload: { query: `{ poolPairs(at: ${sandbox.chain.tip.height - 10}) { totalCount } }` } };
  }

  test('are executed once on two websockets and over HTTP', async () => {
    const { open, post, counted, payload } = await serveSlowly();
    const [first, second] = [await open(), await open()];
    const [one, two, posted] = await Promise.all([send(first, payload), send(second, payload, '2'), post(payload)]);
    expect(one).toEqual([`{"id":"1","type":"next","payload":${posted}}`, '{"id":"1","type":"complete"}']);
    expect(two).toEqual(one.map((text) => text.replace('"1"', '"2"')));
    // One was executed before.
    expect(await counted()).toEqual({ cached: 0, coalesced: 2, executed: 2 });
  });

  test('are sent to the clients that still want them', async () => {
    const { open, payload } = await serveSlowly();
    const [first, second] = [await open(), await open()];
    const received: string[] = [];
    first.on('message', (text) => received.push(String(text)));
    first.send(subscribe('1', payload));
    first.send('{"id":"1","type":"complete"}');
    expect(await send(second, payload)).toHaveLength(2);
    await send(first, HEIGHT, '2');
    expect(received.map((text) => JSON.parse(text).id)).toEqual(['2', '2']);
  });
});

describe('an id that a client uses again after `complete`', () => {
  const complete = (id: string) => JSON.stringify({ id, type: 'complete' });

  /** Sends several messages in one write. */
  function together(socket: WebSocket, sendAll: () => void): void {
    const { _socket: wire } = socket as unknown as { readonly _socket: Duplex };
    wire.cork();
    sendAll();
    wire.uncork();
  }

  async function serveSlowly(config: NonNullable<TestGatewayOptions['config']> = {}) {
    const gateway = await serve({ sandbox: { history: 20 }, config });
    const { sandbox } = gateway;
    const slow = (alias: string, below: number) => ({
      query: `{ ${alias}: poolPairs(at: ${sandbox.chain.tip.height - below}) { totalCount } }`,
    });
    sandbox.node.faults.set({ kind: 'delay', ms: 300, on: 'getpdestate' });
    const socket = await gateway.open();
    const received: { readonly id: string; readonly type: string; readonly payload?: object }[] = [];
    socket.on('message', (text) => received.push(JSON.parse(String(text))));
    return { ...gateway, slow, socket, received };
  }

  test('gets the result of the new query only', async () => {
    const { socket, slow, received } = await serveSlowly();
    socket.send(subscribe('1', slow('old', 10)));
    socket.send(complete('1'));
    await send(socket, slow('new', 12));
    await send(socket, slow('other', 14), '2');
    expect(received.map(({ id, type, payload }) => [id, type, Object.keys(Object(Object(payload).data))])).toEqual([
      ['1', 'next', ['new']],
      ['1', 'complete', []],
      ['2', 'next', ['other']],
      ['2', 'complete', []],
    ]);
  });

  test('gets the result of the new query only, if the old one was refused at once and all messages arrive together', async () => {
    const { socket, received } = await serveSlowly();
    together(socket, () => {
      socket.send(subscribe('1', { query: '{ x }' }));
      socket.send(complete('1'));
      socket.send(subscribe('1', { query: '{ beaconHeight }' }));
    });
    await send(socket, { query: '{ beaconHeight }' }, '2');
    expect(received.map(({ id, type }) => [id, type])).toEqual([
      ['1', 'next'],
      ['1', 'complete'],
      ['2', 'next'],
      ['2', 'complete'],
    ]);
  });

  test('does not count operations that were refused at once and completed in the same read', async () => {
    const { socket, received } = await serveSlowly({ maxSubscriptionsPerConnection: 10 });
    together(socket, () => {
      for (let n = 0; n < 30; n++) {
        socket.send(subscribe('1', { query: '{ x }' }));
        socket.send(complete('1'));
      }
    });
    await send(socket, { query: '{ beaconHeight }' }, '2');
    expect(received.map(({ id, type }) => [id, type])).toEqual([
      ['2', 'next'],
      ['2', 'complete'],
    ]);
  });

  test('gets the updates of the new subscription, if both messages arrive together', async () => {
    const { socket, received, advance, app } = await serveSlowly();
    const query = 'subscription { head { beaconHeight } }';
    for (let n = 1; n <= 3; n++) {
      together(socket, () => {
        socket.send(complete('1'));
        socket.send(subscribe('1', { query }));
      });
      await expect.poll(() => received.length).toBe(n);
    }
    await advance();
    await expect.poll(() => received.map(({ type }) => type)).toEqual(['next', 'next', 'next', 'next']);
    await expect.poll(app.service.sources.head.subscribers).toBe(1);
    socket.send(complete('1'));
    await expect.poll(app.service.sources.head.subscribers).toBe(0);
  });

  test('gets the updates of the new subscription, if the old one failed and its error is not written yet', async () => {
    const sockets = vi.spyOn(ClientSocket.prototype, 'untilWritten');
    onTestFinished(() => sockets.mockRestore());
    const { socket, received, sandbox, app } = await serveSlowly();
    const { divergences, head } = app.service.sources;
    socket.send(subscribe('1', { query: 'subscription { divergentPairs { tickerId } }' }));
    await expect.poll(() => received.length).toBe(1);

    const { _socket: wire } = sockets.mock.contexts[0] as unknown as { readonly _socket: Duplex };
    wire.cork();
    vi.spyOn(divergences, 'rank').mockImplementation(() => {
      throw new Error('The pairs cannot be compared.');
    });
    sandbox.advance();
    await expect.poll(divergences.subscribers).toBe(0);
    socket.send(complete('1'));
    socket.send(subscribe('1', { query: 'subscription { head { beaconHeight } }' }));
    await expect.poll(head.subscribers).toBe(1);
    wire.uncork();
    sandbox.advance();
    await expect.poll(() => received.map(({ type }) => type)).toEqual(['next', 'error', 'next', 'next']);
    expect(received[1]?.payload).toMatchObject([{ extensions: { code: 'INTERNAL_SERVER_ERROR' } }]);
    socket.send(complete('1'));
    await expect.poll(head.subscribers).toBe(0);
  });

  test('is refused while as many operations are executed as may be open, and served when they have ended', async () => {
    const { socket, slow } = await serveSlowly({ maxSubscriptionsPerConnection: 2 });
    for (const below of [10, 12]) {
      socket.send(subscribe('1', slow('old', below)));
      socket.send(complete('1'));
    }
    expect(await send(socket, HEIGHT)).toEqual(refused('1', 'RATE_LIMITED'));
    await expect.poll(async () => (await send(socket, HEIGHT)).length).toBe(2);
  });

  test('is refused if the messages of operations that are executed have too many values, although their results do not', async () => {
    const { socket, slow } = await serveSlowly({ maxValuesPerConnection: 1_000 });
    const variables = { unused: Array(600).fill(1) };
    socket.send(subscribe('1', { ...slow('first', 10), variables }));
    expect(await send(socket, { ...slow('second', 12), variables }, '2')).toEqual(refused('2', 'RATE_LIMITED'));
  });

  test('is refused while the result of another one is not written', async () => {
    const sockets = vi.spyOn(ClientSocket.prototype, 'untilWritten');
    onTestFinished(() => sockets.mockRestore());
    const { socket, received } = await serveSlowly({ maxSubscriptionsPerConnection: 1 });
    const { _socket: wire } = sockets.mock.contexts[0] as unknown as { readonly _socket: Duplex };
    wire.cork();
    for (const id of ['1', '2']) {
      const before = wire.writableLength;
      socket.send(subscribe(id, HEIGHT));
      await expect.poll(() => wire.writableLength).toBeGreaterThan(before);
    }
    wire.uncork();
    await expect
      .poll(() => received.map(({ id, type }) => [id, type]))
      .toEqual([
        ['1', 'next'],
        ['1', 'complete'],
        ['2', 'error'],
      ]);
  });

  test('costs a point if it is refused because too many operations are open', async () => {
    const { open } = await serve({
      config: { rateLimitPerSecond: 1, rateLimitBurst: 6, maxSubscriptionsPerConnection: 1 },
    });
    const socket = await open();
    socket.send(subscribe('s', { query: 'subscription { head { beaconHeight } }' }));
    await once(socket, 'message');
    const texts = [];
    for (let n = 0; n < 7; n++) texts.push((await send(socket, HEIGHT))[0] ?? '');
    expect(texts[0]).toContain('too many open operations');
    expect(texts.at(-1)).toContain('exceeds the rate limit');
  });
});
