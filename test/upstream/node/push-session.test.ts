import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { openPushSession, type PushedBlock } from '../../../src/upstream/node/push-session.ts';

/** What a session reads from a frame with this block: a block, or the error with which it ends. */
async function readFrame(block: string): Promise<PushedBlock | string | undefined> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  server.on('connection', (socket) =>
    socket.once('message', () => socket.send(`{"Id":1,"Result":{"Subscription":"x","Result":${block}},"Error":null}`)),
  );
  const pushed = Promise.withResolvers<PushedBlock>();
  const session = openPushSession({
    url: new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`),
    headers: {},
    timeoutMs: 5_000,
    pingMs: 5_000,
    onOpen() {},
    onBlock: pushed.resolve,
  });
  onTestFinished(async () => {
    session.leave();
    for (const client of server.clients) client.terminate();
    await session.ended;
  });
  return Promise.race([pushed.promise, session.ended.then((error) => error?.message)]);
}

const frame = (instructions: unknown) =>
  readFrame(`{"Hash":"ab","Height":7,"Time":1,"Instructions":${JSON.stringify(instructions)}}`);

const TRADE = ['285', '1', '0', 'cd', '{"Content":{"Amount":18446744073709551615,"Type":"280"}}'];

test.each<[string, unknown, boolean]>([
  ['among others', [['stake', '280'], TRADE, ['280', '3', 'accepted', '{"Content":{}}'], TRADE], true],
  ['whose content cannot be read', [['280']], true],
  ['not in other places', [TRADE, ['acceptblockrewardv3', '280'], ['2800'], ['0280']], false],
  ['not among words and what are no instructions', [['swap'], [], null, '280', 280, { 0: '280' }, [['280']]], false],
  ['not without instructions', null, false],
  ['not if instructions are no list', { 0: ['280'] }, false],
])('an instruction that changes the parameters is found %s', async (_, instructions, changesParams) => {
  const trades = Array.isArray(instructions) ? expect.any(Function) : undefined;
  expect(await frame(instructions)).toEqual({ height: 7, hash: 'ab', changesParams, trades });
});

test('a large frame is read', async () => {
  const instructions = Array.from({ length: 10_000 }, () => TRADE);
  expect(await frame([...instructions, ['280']])).toMatchObject({ height: 7, hash: 'ab', changesParams: true });
});

test.each([`{"Hash":"ab","Height":${'9'.repeat(30)}}`, '{"Hash":"ab","Height":"7"}', '{"Height":7}'])(
  'a frame with another shape ends the session: %s',
  async (block) => {
    expect(await readFrame(block)).toContain('sent an invalid response');
  },
);
