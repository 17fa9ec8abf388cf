import { describe, expect, test } from 'vitest';
import type { PoolPair } from '../../../src/domain/pool-pair.ts';
import { type Context, createContext } from '../../../src/graphql/context.ts';
import { writeCachedPool } from '../../../src/graphql/execution/cached-pool.ts';
import { startGatewayForTest, type TestGatewayOptions } from '../../support/gateway.ts';

const SHAPE = { id: 1 };

/** A gateway whose pools are written as the symbols of their tokens. What is written is collected. */
async function openGateway(options?: TestGatewayOptions) {
  const gateway = await startGatewayForTest(options);
  const { service } = gateway.app;
  const { head, market } = service.sources;
  await Promise.all([head.get(), market.pairs.get(), market.tickers.get()]);
  const written: string[] = [];

  return {
    gateway,
    service,
    written,
    newestPool: async (place = 0) => service.sources.pools.of((await head.get()).exchange).at(place),
    /** Other symbols of tokens at the market-data host. */
    async renameTokens() {
      const before = market.pairs.current()?.market;
      for (const [on, names] of [
        ['pairs', ['base', 'target']],
        ['tickers', ['base_currency', 'target_currency']],
      ] as const) {
        for (const name of names) {
          gateway.sandbox.marketData.faults.set({ kind: 'shape', on, path: [on, '*', name], value: 'RENAMED' });
        }
      }
      await expect.poll(() => market.pairs.current()?.market === before).toBe(false);
    },
    pinnedPool: async () => service.sources.pools.pinned((await head.get()).exchange).at(0),
    write: (pool: object, context: Context, what?: string) =>
      writeCachedPool(SHAPE, pool, context, ({ loaders }) => {
        const { token1Id, token2Id } = pool as { token1Id: string; token2Id: string };
        const text = [token1Id, token2Id].map((id) => `${loaders.tokens.get(id).symbol}`).join();
        written.push(text);
        if (what === 'depends on recorded heights') loaders.history.versions.recorded.depend();
        if (what === 'is long') return `"${'x'.repeat(9_000)}"`;
        return what === 'fails' ? undefined : text;
      }),
  };
}

describe('the JSON of a pool', () => {
  test('is read for the client of the response, not as a client of its own', async () => {
    const { service, newestPool } = await openGateway();
    const clients: unknown[] = [];
    writeCachedPool(SHAPE, await newestPool(), createContext(service, { client: '192.0.2.1' }), ({ loaders }) => {
      clients.push(loaders.options.requester.client);
      return '{}';
    });
    expect(clients).toEqual(['192.0.2.1']);
  });

  test('is written once for all answers about a head, and again for the next', async () => {
    const { gateway, service, written, newestPool, write } = await openGateway();
    const texts = [await newestPool(), await newestPool()].map((pool) => write(pool, createContext(service)));
    expect(texts).toEqual([written[0], written[0]]);
    expect(written.length).toBe(1);

    await gateway.advance();
    expect(write(await newestPool(), createContext(service))).toBe(written[1]);
    expect(written.length).toBe(2);
  });

  test('is written once for all answers about an earlier height, and again if it is pinned', async () => {
    const { gateway, service, written, newestPool, pinnedPool, write } = await openGateway();
    const [pool, pinned] = [await newestPool(), await pinnedPool()];
    for (let heights = 0; heights < 2; heights++) {
      expect([pool, pinned, pool, pinned].map((each) => write(each, createContext(service)))).toEqual([
        written[0],
        written[1],
        written[0],
        written[1],
      ]);
      expect(written.length).toBe(2);
      await gateway.advance();
    }
  });

  test('is not cached for a pool whose state was dropped', async () => {
    const { service, written, newestPool, write } = await openGateway();
    const pool = await newestPool();
    expect(write({ ...pool, beaconHeight: pool.beaconHeight - 1 }, createContext(service))).toBeUndefined();
    expect(written).toEqual([]);
  });

  test('is not that of a pool at the same height in another block', async () => {
    const { service, written, newestPool, write } = await openGateway();
    const pool = await newestPool();
    for (const each of [pool, { ...pool, reserve1: 1n }]) write(each, createContext(service));
    expect(written.length).toBe(2);
  });

  test('is not tried again for the same head if a pool of its plan could not be cached', async () => {
    const { gateway, service, written, newestPool, write } = await openGateway();
    expect(write(await newestPool(), createContext(service), 'fails')).toBeUndefined();
    expect(write(await newestPool(), createContext(service))).toBeUndefined();
    expect(written.length).toBe(1);

    await gateway.advance();
    expect(write(await newestPool(), createContext(service))).toBe(written[1]);
  });
});

describe('an answer with cached JSON of a pool', () => {
  test('is not cached if it is far longer than all fields of a pool', async () => {
    const { service, written, newestPool, write } = await openGateway();
    const pool = await newestPool();
    expect(write(pool, createContext(service), 'is long')).toBeUndefined();
    expect(write(pool, createContext(service), 'is long')).toBeUndefined();
    expect(written.length).toBe(1);
  });

  test('depends on nothing more if the tokens are in the list', async () => {
    const { service, written, newestPool, write } = await openGateway();
    const [one, other] = [createContext(service), createContext(service)];
    for (const context of [one, other]) write(await newestPool(), context);
    expect(written.length).toBe(1);
    expect([one, other].map(({ loaders }) => loaders.dependencies.areImmutable())).toEqual([true, true]);
  });

  test('depends on market data if the JSON does, and has other JSON when the market data changes', async () => {
    const { service, written, newestPool, write, renameTokens } = await openGateway({ config: { tokensFile: [] } });
    const pool = await newestPool();
    const [one, other, late] = [createContext(service), createContext(service), createContext(service)];
    for (const context of [one, other]) write(pool, context);
    expect(written.length).toBe(1);
    expect([one, other].map(({ loaders }) => loaders.dependencies.areImmutable())).toEqual([false, false]);
    late.loaders.market.pairs.current();

    await renameTokens();

    expect([one, other].map(({ loaders }) => loaders.dependencies.areCurrent(service.now()))).toEqual([false, false]);
    const renamed = write(pool, createContext(service));
    expect(renamed).toBe(written.at(-1));
    expect(renamed).not.toBe(written[0]);
    // This answer has read the earlier pairs, so newer JSON must not be part of it.
    expect(write(pool, late)).toBeUndefined();
  });

  test('depends on recorded heights if the JSON does, and has other JSON when one was recorded', async () => {
    const { service, written, newestPool, write } = await openGateway();
    let version = 0;
    Object.assign(service.sources.history, { version: () => version });
    const pool = await newestPool();
    const [one, other] = [createContext(service), createContext(service)];
    for (const context of [one, other]) expect(write(pool, context, 'depends on recorded heights')).toBe(written[0]);
    expect(written.length).toBe(1);
    expect([one, other].map(({ loaders }) => loaders.dependencies.areCurrent(service.now()))).toEqual([true, true]);

    version = 1;
    expect([one, other].map(({ loaders }) => loaders.dependencies.areCurrent(service.now()))).toEqual([false, false]);
    expect(write(pool, createContext(service), 'depends on recorded heights')).toBe(written[1]);
    // This answer depends on what was recorded before.
    expect(write(pool, one)).toBeUndefined();
  });

  test('has the JSON of all its pools from the same market data', async () => {
    const { service, written, newestPool, write, renameTokens } = await openGateway({ config: { tokensFile: [] } });
    const { symbols } = (await service.sources.market.pairs.get()).market;
    const pools = await Promise.all(Array.from({ length: 30 }, (_, place) => newestPool(place)));
    const [pool, next, last] = pools.filter(({ token2Id }) => symbols.has(token2Id)) as [PoolPair, PoolPair, PoolPair];
    for (const each of [pool, next, last]) write(each, createContext(service));
    const answer = createContext(service);
    expect(write(pool, answer)).toBe(written[0]);

    await renameTokens();
    expect(write(last, createContext(service))).toBe(written[3]);
    // Its first pool has the earlier symbols. The second one still has the same, and the JSON of the third is newer.
    expect([next, last].map((each) => write(each, answer))).toEqual([written[1], undefined]);
    expect(write(next, createContext(service))).toBe(written.at(-1));
    expect(written.at(-1)).not.toBe(written[1]);
  });
});
