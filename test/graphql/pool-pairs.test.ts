import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ChainPool } from '../../src/sandbox/chain/pools.ts';
import { startGateway } from '../support/gateway.ts';
import { PoolPriceDocument } from '../support/generated/documents.ts';
import { BTC, NOBODYS, PRV } from '../support/tokens.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

/** The documented formula, written again here, so that the gateway is not checked with its own code. */
function documentedPrice(t1: bigint, t2: bigint, d1: number, d2: number): number {
  const x = Math.ceil((Number(t2) * Number(t1)) / (Number(t2) + 10 ** d2));
  return (Number(t1) - x) / 10 ** d1;
}

function reserves(pool: ChainPool): [bigint, bigint] {
  const { reserve1 = 0n, reserve2 = 0n } = gateway.sandbox.chain.reserves(pool) ?? {};
  return [reserve1, reserve2];
}

describe('the pool of two tokens', () => {
  test('is found by its tokens in either order, with all of its fields', async () => {
    const { chain } = gateway.sandbox;
    const pool = chain.pools.find(({ token1, token2 }) => token1.id === PRV && token2.id === BTC);
    const [t1, t2] = pool ? reserves(pool) : [0n, 0n];
    const expected = {
      beaconHeight: chain.tip.height,
      poolPair: {
        id: `PoolPair:${PRV}-${BTC}`,
        key: `pdepool-${chain.tip.height}-${PRV}-${BTC}`,
        beaconHeight: chain.tip.height,
        token1PoolValue: t1.toString(),
        token2PoolValue: t2.toString(),
        price: documentedPrice(t1, t2, 9, 9),
        exactPrice: expect.stringMatching(/^\d+\.\d{9}$/),
        inversePrice: documentedPrice(t2, t1, 9, 9),
        spotPrice: expect.closeTo(Number(t1) / Number(t2), 6),
      },
    };
    for (const [token1Id, token2Id] of [[PRV, BTC] as const, [BTC, PRV] as const]) {
      const { data, errors } = await gateway.ask(PoolPriceDocument, { token1Id, token2Id });
      expect(errors).toBeUndefined();
      expect(data).toEqual(expected);
    }
  });

  test('is null without an error if it does not exist', async () => {
    const answer = await gateway.ask(`{ poolPair(token1Id: "${PRV}", token2Id: "${NOBODYS}") { id } }`);
    expect(answer).toEqual({ data: { poolPair: null } });
  });

  test('has a price by the documented formula, for every pool whose decimals are known', async () => {
    const { data } = await gateway.ask(
      '{ poolPairs(first: 100, orderBy: ID_ASC) { nodes { id price exactPrice spotPrice token1 { decimals } token2 { decimals } } } }',
    );
    const expected = gateway.sandbox.chain.pools.map((pool) => {
      const [t1, t2] = reserves(pool);
      const decimals = [pool.token1, pool.token2].map((token) => (token.symbol === undefined ? null : token.decimals));
      const [d1, d2] = decimals;
      const isQuoted = d1 != null && d2 != null && t1 > 0n && t2 > 0n;
      return {
        id: `PoolPair:${pool.token1.id}-${pool.token2.id}`,
        price: isQuoted ? documentedPrice(t1, t2, d1, d2) : null,
        exactPrice: isQuoted ? expect.any(String) : null,
        spotPrice: isQuoted ? expect.any(Number) : null,
        token1: { decimals: d1 },
        token2: { decimals: d2 },
      };
    });
    expect(data.poolPairs.nodes).toEqual(expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    expect(expected.filter(({ price }) => price === null).length).toBeGreaterThan(3);
  });

  test('has exact amounts above 2^53', async () => {
    const large = gateway.sandbox.chain.pools.find((pool) => reserves(pool).some((amount) => amount > 2n ** 63n));
    const { data } = await gateway.ask(
      `{ poolPair(token1Id: "${large?.token1.id}", token2Id: "${large?.token2.id}") { token1PoolValue token2PoolValue } }`,
    );
    const [t1, t2] = large ? reserves(large) : [];
    expect(data.poolPair).toEqual({ token1PoolValue: String(t1), token2PoolValue: String(t2) });
  });

  test('decimals in arguments take precedence over known ones', async () => {
    const { data } = await gateway.ask(
      `{ poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { token1PoolValue token2PoolValue price(decimals1: 0, decimals2: 30) other: price(decimals2: 8) } }`,
    );
    const [t1, t2] = [BigInt(data.poolPair.token1PoolValue), BigInt(data.poolPair.token2PoolValue)];
    expect(data.poolPair.price).toBe(documentedPrice(t1, t2, 0, 30));
    expect(data.poolPair.other).toBe(documentedPrice(t1, t2, 9, 8));
  });

  test('has the market-data pairs of the same two tokens', async () => {
    const { data } = await gateway.ask(
      `{ poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { pairs { tickerId poolPair { id } } } }`,
    );
    expect(data.poolPair.pairs).toEqual([{ tickerId: 'pBTC_PRV', poolPair: { id: `PoolPair:${PRV}-${BTC}` } }]);
  });
});
