import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

describe.skipIf(!hasRedis)('a user of Redis', () => {
  test('needs only the commands that docs/fleet.md names, for keys and a channel with the prefix', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/fleet.md'), 'utf8');
    const [sentence = ''] = /The user needs the commands [^.]*/.exec(page) ?? [];
    const commands = [...sentence.matchAll(/`([A-Z]+)`/g)].map(([, name = '']) => `+${name.toLowerCase()}`);
    expect(commands.length).toBeGreaterThan(10);
    const server = await startRedis();
    onTestFinished(server.close);
    server.cli('acl', 'setuser', 'gateway', 'on', '>secret', '~pdex:*', '~{pdex}:*', '&pdex:*', '-@all', ...commands);

    const url = new URL(server.url);
    url.username = 'gateway';
    url.password = 'secret';
    const { sandbox, ask, clock } = await startGatewayForTest({ config: { redisUrl: [url] } });
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
});
