import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/settings/settings.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { INFO, WARN } from '../support/log.ts';
import { freePort } from '../support/ports.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/fleet.md'), 'utf8');

/** The rules of the user that docs/fleet.md has for one server. */
const RULES = /^ACL SETUSER gateway (.*)$/m.exec(PAGE)?.[1]?.split(' ') ?? [];

/** The rules for a database with a number, and for a cluster. */
const SELECT = /`SELECT` if the URL has the number/.test(PAGE) ? '+select' : '';
const CLUSTER_SLOTS = /`CLUSTER SLOTS` in a cluster/.test(PAGE) ? '+cluster|slots' : '';

/** Starts Redis, and a gateway whose user has these rules. */
async function startWith(rules: readonly string[], { database, isCluster, config }: Options = {}) {
  const bus = async () => ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())];
  const server = await startRedis(isCluster ? await bus() : []);
  onTestFinished(server.close);
  if (isCluster) server.cli('cluster', 'addslotsrange', '0', '16383');
  server.cli('acl', 'setuser', 'gateway', ...rules);
  const url = new URL(`redis${isCluster ? '+cluster' : ''}://127.0.0.1:${server.port}/${database ?? ''}`);
  url.username = 'gateway';
  url.password = 'secret';
  return { server, ...(await startGatewayForTest({ config: { redisUrl: [url], ...config } })) };
}

type Options = {
  readonly database?: number;
  readonly isCluster?: boolean;
  readonly config?: Partial<Config>;
};

describe.skipIf(!hasRedis)('a user of Redis', () => {
  test('needs only the rules of docs/fleet.md, for keys and a channel with the prefix', async () => {
    expect(RULES.length).toBeGreaterThan(10);
    const { server, sandbox, ask, clock } = await startWith(RULES, {
      config: { historyDatabase: { kind: 'memory' } },
    });
    /** Does what stores a value of each kind. A busy machine can be too slow for Redis. */
    async function storeEachKind(): Promise<void> {
      sandbox.advance(2);
      // The gateway reads the order book again.
      clock.now += 5_000;
      const at = sandbox.chain.tip.height - 50;
      await ask(
        `{ poolPairs(first: 1, at: ${at}) { nodes { id } } ticker(tickerId: "pBTC_PRV") { orderBook { bestBid } } }`,
      );
    }
    const kinds = ['state', 'order_book', 'head-3:values', 'tickers:values', 'replicas', 'recorder', 'chain'];
    // On a busy machine, the first keys expire before the last ones are stored.
    const stored = new Set<string>();
    while (stored.size < kinds.length) {
      await storeEachKind();
      const keys = server.cli('--scan');
      for (const kind of kinds) if (new RegExp(`pdex\\}?:${kind}`).test(keys)) stored.add(kind);
    }
    expect(server.cli('acl', 'log')).toBe('');
  });

  test.each([
    ['a database with a number', SELECT, { database: 1 }, /'select'/],
    ['a cluster', CLUSTER_SLOTS, { isCluster: true }, /'cluster\|slots'/],
  ])('needs one more command for %s, which the log names if it is missing', async (_, command, options, reason) => {
    const { ask } = await startWith([...RULES, command], options);
    const isConnected = async () => (await ask('{ service { fleet { connected } } }')).data.service.fleet.connected;
    await until(isConnected);

    const { lines } = await startWith(RULES, { ...options, config: { logLevel: 'debug' } });
    const failures = () => lines.flatMap(({ msg, error }) => (msg.startsWith('Redis cannot be used') ? [error] : []));
    await expect.poll(failures).toContainEqual(expect.stringMatching(reason));
  });

  test('without the command EVAL, the gateway works alone, and the log says why', async () => {
    const server = await startRedis(['--rename-command', 'EVAL', '']);
    onTestFinished(server.close);
    const redisUrl = [new URL(`redis://127.0.0.1:${server.port}`)];
    const { ask, lines } = await startGatewayForTest({ config: { redisUrl } });
    const failures = () => lines.flatMap(({ msg, error }) => (msg.startsWith('Redis cannot be used') ? [error] : []));
    await expect.poll(failures).toContainEqual(expect.stringMatching(/^ERR unknown command .EVAL/i));
    const fleet = async () => (await ask('{ beaconHeight service { fleet { connected } } }')).data.service.fleet;
    await expect.poll(fleet).toEqual({ connected: false });
  });

  test.each([
    ['may not run scripts', '+eval', /^NOPERM .*'eval'/],
    ['may not send a command of a script', '+zadd', /^ERR .* script/],
  ])('who %s: the gateway works alone, and logs the reason once', async (_, missing, reason) => {
    const allowed = RULES.filter((rule) => rule !== missing);
    const { ask, lines } = await startWith(allowed, { config: { logLevel: 'debug' } });
    const failures = () => lines.filter(({ msg }) => msg.startsWith('Redis cannot be used'));
    await until(() => failures().length >= 5);
    const warnings = failures().flatMap(({ level, error }) => (level === WARN ? [String(error)] : []));
    expect(warnings).toContainEqual(expect.stringMatching(reason));
    expect(new Set(warnings).size).toBe(warnings.length);
    expect(lines.filter(({ level, msg }) => level === INFO && msg === 'Redis can be used').length).toBeLessThan(2);
    expect((await ask('{ beaconHeight }')).errors).toBeUndefined();
  });
});
