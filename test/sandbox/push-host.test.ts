import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { fixedSandbox } from './support.ts';

const SUBSCRIBE = {
  request: { jsonrpc: '1.0', method: 'subcribenewbeaconblock', params: [] as unknown, id: 1 as unknown },
  subcription: '11',
  type: 0,
};

/** A websocket of a client, with the frames that it received. */
type Client = { readonly socket: WebSocket; readonly frames: string[]; readonly isBinary: boolean[] };

async function open(url: string, path = '/'): Promise<Client> {
  const socket = new WebSocket(url + path, { perMessageDeflate: false });
  onTestFinished(() => socket.terminate());
  const client: Client = { socket, frames: [], isBinary: [] };
  socket.on('message', (data, isBinary) => {
    client.frames.push(String(data));
    client.isBinary.push(isBinary);
  });
  await once(socket, 'open');
  return client;
}

/** Opens a socket, and subscribes on it. */
async function subscribed(sandbox: SandboxHosts, message: object = SUBSCRIBE): Promise<Client> {
  const client = await open(sandbox.pushUrl);
  const before = sandbox.push.subscribers();
  client.socket.send(JSON.stringify(message));
  await expect.poll(sandbox.push.subscribers).toBe(before + 1);
  return client;
}

/** Sends a message, and returns the frame that answers it. */
async function answerTo({ socket, frames }: Client, message: unknown): Promise<string | undefined> {
  socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  await once(socket, 'message');
  return frames.at(-1);
}

const heightsOf = ({ frames }: Client) => frames.map((frame) => JSON.parse(frame).Result.Result.Height - 1_640_000);

async function refusalOf(url: string): Promise<{ status: number | undefined; body: string }> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  socket.on('error', () => {});
  const [, response] = await once(socket, 'unexpected-response');
  let body = '';
  for await (const piece of response) body += piece;
  return { status: response.statusCode, body };
}

describe('the websocket of a node', () => {
  test('pushes each new block as an indented envelope, without an acknowledgement', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const client = await subscribed(sandbox);
    sandbox.advance(2);
    await expect.poll(() => client.frames.length).toBe(2);
    const { hash, height, time } = sandbox.chain.tip;
    expect(client.frames[1]).toBe(`{
\t"Id": 1,
\t"Result": {
\t\t"Subscription": "11",
\t\t"Result": {
\t\t\t"Hash": "${hash}",
\t\t\t"Height": ${height},
\t\t\t"Time": ${time}
\t\t}
\t},
\t"Error": null,
\t"Params": [],
\t"Method": "subcribenewbeaconblock",
\t"Jsonrpc": "1.0"
}`);
    expect(heightsOf(client)).toEqual([1, 2]);
  });

  test('pushes a block that replaces the tip: the same height again, with another hash', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const client = await subscribed(sandbox);
    sandbox.advance();
    sandbox.replaceTip();
    await expect.poll(() => client.frames.length).toBe(2);
    expect(heightsOf(client)).toEqual([1, 1]);
    expect(client.frames[0]).not.toBe(client.frames[1]);
  });

  test('sends binary frames to a binary request', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const text = await subscribed(sandbox);
    const binary = await open(sandbox.pushUrl, '/any/path');
    binary.socket.send(Buffer.from(JSON.stringify(SUBSCRIBE)));
    await expect.poll(sandbox.push.subscribers).toBe(2);
    sandbox.advance();
    await expect.poll(() => binary.frames.length + text.frames.length).toBe(2);
    expect([text.isBinary, binary.isBinary]).toEqual([[false], [true]]);
  });

  test('ends a subscription with a message, which has the id of the request that subscribed', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const client = await subscribed(sandbox);
    const end = { ...SUBSCRIBE, request: { ...SUBSCRIBE.request, id: 2 }, type: 1 };
    expect(JSON.parse((await answerTo(client, end)) ?? '')).toMatchObject({
      Id: 1,
      Result: { Subscription: '11', Result: { Message: 'Unsubscribe New Beacon Block' } },
      Error: null,
    });
    sandbox.advance();
    expect(JSON.parse((await answerTo(client, end)) ?? '')).toMatchObject({
      Id: 2,
      Result: { Subscription: '11', Result: null },
      Error: {
        Code: -5001,
        Message: 'Failed to unsubcribe',
        StackTrace: expect.stringMatching(/^-5001: No Subcription/),
      },
    });
    expect([client.frames.length, client.socket.readyState]).toEqual([2, WebSocket.OPEN]);
  });

  test.each([
    ['an unknown method', { method: 'nope' }, -1002, 'Method not found'],
    ['parameters', { params: [''] }, -1003, 'Invalid parameters'],
  ])('refuses %s, and stays open', async (_, changes, code, message) => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const client = await open(sandbox.pushUrl);
    const answer = await answerTo(client, { ...SUBSCRIBE, request: { ...SUBSCRIBE.request, ...changes } });
    expect(JSON.parse(answer ?? '')).toMatchObject({
      Result: { Subscription: '11', Result: null },
      Error: { Code: code, Message: message },
    });
    expect(sandbox.push.subscribers()).toBe(0);
  });

  test('ignores what is not JSON, and requests without an id', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const client = await open(sandbox.pushUrl);
    const { id: _, ...withoutId } = SUBSCRIBE.request;
    for (const message of ['not json', '[]', { ...SUBSCRIBE, request: withoutId }, SUBSCRIBE.request])
      client.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    const end = { ...SUBSCRIBE, type: 1 };
    expect(JSON.parse((await answerTo(client, end)) ?? '').Error.Code).toBe(-5001);
    expect(client.frames).toHaveLength(1);
  });

  test('answers pings, and sends none', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const { socket } = await open(sandbox.pushUrl);
    socket.ping('here');
    const [data] = await once(socket, 'pong');
    expect([String(data), sandbox.push.calls('ping')]).toEqual(['here', 1]);
  });

  test('offers no subprotocol and no compression', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const { port } = new URL(sandbox.pushUrl);
    const request = [
      'GET / HTTP/1.1',
      'Host: node',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
      'Sec-WebSocket-Protocol: graphql',
      'Sec-WebSocket-Extensions: permessage-deflate',
    ];
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(`${request.join('\r\n')}\r\n\r\n`));
    const [head] = await once(socket, 'data');
    socket.destroy();
    expect(String(head)).toMatch(/^HTTP\/1\.1 101 /);
    expect(String(head)).not.toMatch(/sec-websocket-(protocol|extensions)/i);
  });

  test('refuses a client too many with status 503', async () => {
    await using sandbox = await fixedSandbox({ history: 5, maxPushClients: 2 });
    await Promise.all([open(sandbox.pushUrl), open(sandbox.pushUrl)]);
    expect(await refusalOf(sandbox.pushUrl)).toEqual({ status: 503, body: '503 Too busy.  Try again later.\n' });
  });

  test('counts the sockets that close without unsubscribing', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const [one, other] = [await subscribed(sandbox), await subscribed(sandbox)];
    await answerTo(one, { ...SUBSCRIBE, type: 1 });
    one.socket.close();
    other.socket.close();
    await expect.poll(sandbox.push.openSockets).toBe(0);
    expect(sandbox.push.leaked()).toBe(1);
  });
});

describe('a fault of the websocket', () => {
  test.each([
    ['duplicates', { kind: 'duplicates' }, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]],
    ['out-of-order', { kind: 'out-of-order' }, [1, 3, 4, 5, 2]],
    ['side-branches', { kind: 'side-branches' }, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]],
    ['lost', { kind: 'lost' }, []],
  ] as const)('%s changes which frames come', async (_, fault, heights) => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const client = await subscribed(sandbox);
    const clear = sandbox.push.faults.set(fault);
    sandbox.advance(5);
    clear();
    sandbox.advance();
    await expect.poll(() => heightsOf(client).at(-1)).toBe(6);
    expect(heightsOf(client)).toEqual([...heights, 6]);
  });

  test('burst sends the frames of earlier heights too', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const client = await subscribed(sandbox);
    sandbox.push.faults.set({ kind: 'burst', blocks: 4 });
    sandbox.advance();
    await expect.poll(() => heightsOf(client)).toEqual([-3, -2, -1, 0, 1]);
  });

  test('refused, dropped and rpc-error make clients fail', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    sandbox.push.faults.set({ kind: 'refused', status: 401, times: 1 });
    expect(await refusalOf(sandbox.pushUrl)).toEqual({ status: 401, body: '' });

    sandbox.push.faults.set({ kind: 'rpc-error', code: '-1002', times: 1 });
    const answer = await answerTo(await open(sandbox.pushUrl), SUBSCRIBE);
    expect(JSON.parse(answer ?? '').Error.Code).toBe(-1002);

    sandbox.push.faults.set({ kind: 'dropped', on: 'block', times: 1 });
    const client = await subscribed(sandbox);
    sandbox.advance();
    await once(client.socket, 'close');
    await expect.poll(sandbox.push.subscribers).toBe(0);
    expect(sandbox.push.leaked()).toBe(0);
  });

  test('garbage-frame sends half a frame, and large-frame a long one', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const client = await subscribed(sandbox);
    sandbox.push.faults.set({ kind: 'garbage-frame', times: 1 });
    sandbox.push.faults.set({ kind: 'large-frame', bytes: 10_000 });
    sandbox.advance(2);
    await expect.poll(() => client.frames.length).toBe(2);
    expect(() => JSON.parse(client.frames[0] ?? '')).toThrow(SyntaxError);
    expect(client.frames[1]?.length).toBeGreaterThan(10_000);
  });

  test('a stop closes the sockets, and a start listens on the same port', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const { socket } = await subscribed(sandbox);
    const closed = once(socket, 'close');
    await sandbox.push.stop();
    await closed;
    await sandbox.push.start();
    await subscribed(sandbox);
  });
});
