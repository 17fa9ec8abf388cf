import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'vitest';
import { createRedis } from '../../src/fleet/redis.ts';
import { createPostgresStore } from '../../src/history/postgres-store.ts';
import { until } from '../support/until.ts';

/** A server that accepts connections and does not reply. */
async function startSilent({ onTestFinished }: TestContext) {
  const open = new Set<Socket>();
  let accepted = 0;
  const server = createServer((socket) => {
    accepted += 1;
    open.add(socket.resume());
    socket.on('error', () => {});
    socket.on('close', () => open.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { port, open, accepted: () => accepted };
}

test.concurrent.for([
  ['Redis', 'redis', ''],
  ['cluster', 'redis+cluster', ''],
  ['Sentinel', 'redis+sentinel', '/mymaster'],
])(
  'to a %s that accepts connections and does not reply, there is one connection, which ends with the gateway',
  async ([, scheme, path], context) => {
    const { port, open, accepted } = await startSilent(context);
    const redis = createRedis({ urls: [new URL(`${scheme}://127.0.0.1:${port}${path}`)], prefix: 'test' });
    context.onTestFinished(redis.close);
    // After five seconds at most, the first attempt is over.
    await until(() => accepted() >= 2 && open.size === 1);
    redis.close();
    await until(() => open.size === 0);
  },
);

test.concurrent('a PostgreSQL that accepts connections and does not reply is an error after a while', async (context) => {
  const { port } = await startSilent(context);
  const store = createPostgresStore(`postgres://gateway@127.0.0.1:${port}/postgres`, { rawDays: 7 });
  context.onTestFinished(() => store.close());
  await context.expect(store.useChain('test')).rejects.toThrow('timeout');
});
