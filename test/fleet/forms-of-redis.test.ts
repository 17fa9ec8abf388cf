import { networkInterfaces } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRedis } from '../../src/fleet/redis.ts';
import { hasOpenssl, makeCertificate } from '../support/certificate.ts';
import { startFleet } from '../support/fleet.ts';
import { startSandbox } from '../support/gateway.ts';
import { startGatewayProcess, untilSettled } from '../support/gateway-process.ts';
import { freePort } from '../support/ports.ts';
import { hasRedis, type RedisServer, startRedis, startSentinel } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { connectForTest } from './connected.ts';

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));

async function start(args: readonly string[] = []): Promise<RedisServer> {
  const server = await startRedis(args);
  onTestFinished(server.close);
  return server;
}

describe.skipIf(!hasRedis)('a fleet', () => {
  test.skipIf(!hasOpenssl)(
    'uses a Redis with TLS, user and password, and none whose certificate it does not trust',
    async () => {
      const { folder, certFile } = makeCertificate('DNS:localhost');
      const port = await freePort();
      const files = ['--tls-cert-file', certFile, '--tls-key-file', `${folder}/privkey.pem`];
      const server = await start(['--tls-port', String(port), ...files, '--tls-auth-clients', 'no']);
      server.cli('acl', 'setuser', 'gateway', 'on', '>sword/fish', '~*', '&*', '+@all');
      const redisUrl = new URL(`rediss://gateway:${encodeURIComponent('sword/fish')}@localhost:${port}`);
      const of = await startSandbox();
      onTestFinished(of.close);

      const trusting = { of, redisUrl, prefix: 'secure', env: { NODE_EXTRA_CA_CERTS: certFile } };
      const [first, second] = await Promise.all([startGatewayProcess(trusting), startGatewayProcess(trusting)]);
      await untilSettled(first, second);

      const stranger = await startGatewayProcess({ of, redisUrl, prefix: 'secure' });
      await until(() => /self-signed certificate/.test(stranger.output()));
      for (const { output } of [first, second, stranger]) expect(output()).not.toMatch(/sword/);
    },
  );

  test('continues after Sentinel has replaced a Redis that was killed', async () => {
    const primary = await start();
    const replica = await start(['--replicaof', '127.0.0.1', String(primary.port)]);
    await until(() => /master_link_status:up/.test(replica.cli('info', 'replication')));
    const sentinel = await startSentinel('pdex', primary);
    onTestFinished(sentinel.close);
    await until(() => /num-slaves\n1\n/.test(sentinel.cli('sentinel', 'master', 'pdex')));

    const url = new URL(`redis+sentinel://127.0.0.1:${sentinel.port}/pdex`);
    const fleet = await startFleet(primary, { prefix: 'failover', config: { redisUrl: [url] } });
    await fleet.settled();
    await fleet.advance();
    await primary.kill();
    await until(() => isPrimary(replica));
    await fleet.settled();
    await fleet.advance(2);
    const newest = () => replica.cli('zrange', '{failover}:head-3:values', '-1', '-1', 'withscores').split('\n').at(-1);
    await until(() => Number(newest()) === fleet.sandbox.chain.tip.height);
    await fleet.settled();
    await fleet.advance();
  });

  test.skipIf(!hasIpv6)('finds a Redis through a Sentinel that its URL names by an IPv6 address', async () => {
    const primary = await start();
    const sentinel = await startSentinel('pdex', primary, ['--bind', '127.0.0.1', '::1']);
    onTestFinished(sentinel.close);
    // Sentinel has no such user.
    primary.cli('acl', 'setuser', 'gateway', 'on', '>secret', '~*', '&*', '+@all');
    primary.cli('acl', 'setuser', 'default', '-set');
    const redis = await connectForTest({ url: new URL(`redis+sentinel://gateway:secret@[::1]:${sentinel.port}/pdex`) });
    expect(await redis.command('key', 'SET', 'key', '1')).toBe('OK');
  });

  test('reports why it cannot use a Redis behind a Sentinel', async () => {
    const [primary, lost] = await Promise.all([start(), start()]);
    primary.cli('acl', 'setuser', 'default', 'resetpass', '>right', '~*', '&*', '+@all');
    const [sentinel, ofLost] = await Promise.all([
      startSentinel('pdex', primary, ['--sentinel', 'auth-pass', 'pdex', 'right']),
      startSentinel('pdex', lost),
    ]);
    onTestFinished(sentinel.close);
    onTestFinished(ofLost.close);
    await lost.kill();
    await until(() => /s_down/.test(ofLost.cli('sentinel', 'master', 'pdex')));
    const closed = `127.0.0.1:${await freePort()}`;
    const open = `127.0.0.1:${sentinel.port}`;

    const reasons = await Promise.all(
      [
        [`${closed}/pdex`],
        [`${open}/other`],
        [`:sword@${open}/pdex`],
        // The one that cannot be reached is not the reason.
        [`${closed}/pdex`, `127.0.0.1:${ofLost.port}/pdex`],
      ].map(reasonOf),
    );
    expect(reasons).toEqual([
      `connect ECONNREFUSED ${closed}`,
      'ERR No such master with that name',
      'WRONGPASS invalid username-password pair or user is disabled.',
      'no valid master node',
    ]);
  });

  test('uses a cluster whose keys are on three servers', async () => {
    const servers: RedisServer[] = [];
    for (let n = 0; n < 3; n++) {
      const bus = ['--cluster-port', String(await freePort()), '--cluster-announce-ip', '127.0.0.1'];
      servers.push(await start(['--cluster-enabled', 'yes', ...bus]));
    }
    const [first] = servers;
    if (first === undefined) throw new Error('no server');
    first.cli('--cluster', 'create', ...servers.map(({ port }) => `127.0.0.1:${port}`), '--cluster-yes');
    await until(() => servers.every((each) => /cluster_state:ok/.test(each.cli('cluster', 'info'))));

    const url = new URL(`redis+cluster://127.0.0.1:${first.port}`);
    const fleet = await startFleet(first, { prefix: 'cluster', config: { redisUrl: [url] } });
    await fleet.settled();
    await fleet.advance(2);
    const [one, other] = fleet.all;
    const heights = Array.from({ length: 12 }, (_, n) => fleet.sandbox.chain.tip.height - 60 - n);
    const query = `{ ${heights.map((at) => `a${at}: poolPairs(first: 1, at: ${at}) { nodes { id exactPrice } }`).join(' ')} }`;
    const answer = await one?.ask(query);
    expect(answer?.errors).toBeUndefined();
    expect(await other?.ask(query)).toEqual(answer);
    // Each server has some of the values.
    await until(() =>
      servers.every((each) =>
        each
          .cli('--scan')
          .split('\n')
          .some((key) => key.startsWith('cluster:')),
      ),
    );
  });
});

/** Why Redis cannot be used, as it is reported first. */
async function reasonOf(sentinels: readonly string[]): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const urls = sentinels.map((each) => new URL(`redis+sentinel://${each}`));
  const redis = createRedis({ urls, prefix: 'test', watcher: { available() {}, unavailable: resolve } });
  onTestFinished(redis.close);
  return ((await promise) as Error).message;
}

/** Sentinel disconnects the clients of a Redis that it promotes, also `redis-cli`. */
function isPrimary({ cli }: RedisServer): boolean {
  try {
    return /role:master/.test(cli('info', 'replication'));
  } catch {
    return false;
  }
}
