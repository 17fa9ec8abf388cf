import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

describe.skipIf(!hasRedis && process.env['CI'] === undefined)('a user of Redis', () => {
  test('needs only the commands that docs/fleet.md names, for keys with the prefix', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/fleet.md'), 'utf8');
    const [sentence = ''] = /The user needs the commands [^.]*/.exec(page) ?? [];
    const commands = [...sentence.matchAll(/`([A-Z]+)`/g)].map(([, name = '']) => `+${name.toLowerCase()}`);
    expect(commands.length).toBeGreaterThan(10);
    const server = await startRedis();
    onTestFinished(server.close);
    server.cli('acl', 'setuser', 'gateway', 'on', '>secret', '~pdex:*', '~{pdex}:*', '-@all', ...commands);

    const url = new URL(server.url);
    url.username = 'gateway';
    url.password = 'secret';
    const { app, sandbox, clock, ask } = await startGatewayForTest({
      config: { redisUrl: [url], rateLimitPerSecond: 100 },
    });
    const endpoint = await app.listen(0, '127.0.0.1');
    /** Does what stores a value of each kind. A busy machine can be too slow for Redis, so each attempt is another value. */
    async function storeEachKind(attempt: number): Promise<void> {
      sandbox.advance(2);
      // The bucket of this client is full again: an operation that is refused spends nothing, so its account would not be stored.
      clock.now += 10_000;
      const at = sandbox.chain.tip.height - 50;
      await ask(
        `{ poolPairs(first: 1, at: ${at}) { nodes { id } } ticker(tickerId: "pBTC_PRV") { orderBook { bestBid } } }`,
      );
      const query = `{ a${attempt}: __typename }`;
      const sha256Hash = createHash('sha256').update(query).digest('hex');
      const body = JSON.stringify({ query, extensions: { persistedQuery: { version: 1, sha256Hash } } });
      const headers = { 'content-type': 'application/json' };
      await fetch(endpoint, { method: 'POST', headers, body });
    }
    const kinds = ['state', 'order_book', 'persisted_query', 'account', 'lease', 'pools'];
    const areStored = () => kinds.every((kind) => new RegExp(`pdex\\}?:${kind}`).test(server.cli('--scan')));
    for (let attempt = 0; !areStored(); attempt++) await storeEachKind(attempt);
    expect(server.cli('acl', 'log')).toBe('');
  });
});
