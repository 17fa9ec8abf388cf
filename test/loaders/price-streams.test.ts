import { describe, expect, test } from 'vitest';
import { type PoolPair, poolPairId } from '../../src/domain/pool-pair.ts';
import { toTokenList } from '../../src/domain/token.ts';
import { createContext } from '../../src/graphql/context.ts';
import { createBroadcast } from '../../src/live/broadcast/broadcast.ts';
import type { Head } from '../../src/live/chain/head.ts';
import type { Loaders } from '../../src/loaders/loaders.ts';
import { createPoolCache } from '../../src/loaders/pool-cache.ts';
import { createPriceCrossingStream, createPriceStream } from '../../src/loaders/price-streams.ts';
import type { SourceStream } from '../../src/loaders/source-stream.ts';
import type { Sources } from '../../src/loaders/sources.ts';
import { exchangeStateOf, poolOf, tokenId } from '../domain/pools.ts';
import { poolOfV3, stateOfV3 } from '../domain/v3-pools.ts';
import { startGatewayForTest } from '../support/gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

test.each([
  ['unknown', []],
  ['other ones', [PRV, BTC].map((tokenId) => ({ tokenId, symbol: undefined, decimals: 0 }))],
])(
  'a price that crossed a bound is sent also if the decimals are %s before its update is executed',
  async (_, later) => {
    const gateway = await startGatewayForTest();
    await gateway.untilReady();
    const { service } = gateway.app;
    let list = service.sources.tokens.current();
    const tokens = { ...service.sources.tokens, current: () => list };
    const loaders = {
      sources: { ...service.sources, tokens },
      options: createContext(service).loaders.options,
    };
    const { data } = await gateway.ask(`{ poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { price } }`);
    const bound: number = data.poolPair.price;
    // A change in any direction crosses it.
    const stream = await createPriceCrossingStream(
      { token1Id: PRV, token2Id: BTC, above: bound, below: bound },
      loaders,
    );
    const { promise: crossed, resolve } = Promise.withResolvers<Parameters<typeof stream.toUpdate>[0]>();
    const subscription = stream.subscribe({
      onNext: (value) => resolve(value),
      onError(reason) {
        throw reason;
      },
    });
    subscription.request();
    const height = gateway.sandbox.chain.tip.height;
    const isCrossed = crossed.then(() => true);
    while (!(await Promise.race([isCrossed, gateway.advance().then(() => false)])))
      expect(gateway.sandbox.chain.tip.height).toBeLessThan(height + 50);
    subscription.cancel();

    const value = await crossed;
    const expected = stream.toUpdate(value, undefined);
    expect(expected).toMatchObject({ bound, previousPrice: bound });
    list = toTokenList(later);
    expect(stream.toUpdate(value, undefined)).toEqual(expected);
  },
);

describe('two tokens of which another pool gets the most liquidity', () => {
  const [a, b] = [tokenId('a'), tokenId('b')];
  const key = { token1Id: b, token2Id: a };

  /** The pools of heights: one b costs nearly 100 a in the first one, and 50 or 60 in the second one. */
  const first = (size: bigint) => poolOfV3([a, b], [100n * size, size], { number: 1 });
  const second = (price: bigint) => poolOfV3([a, b], [price * 10n ** 12n, 10n ** 12n], { number: 2 });
  const HEIGHTS: readonly (readonly PoolPair[])[] = [
    [first(10n ** 13n), second(50n)],
    // Only the first pool has changed, and the second one has more liquidity than it now.
    [first(10n ** 10n), second(50n)],
    [first(10n ** 10n), second(60n)],
    [first(10n ** 13n), second(60n)],
  ];

  const stateAt = (beaconHeight: number, pools: readonly PoolPair[]) =>
    pools[0]?.v3 === undefined ? exchangeStateOf(beaconHeight, pools) : { ...stateOfV3(pools), beaconHeight };

  /** What a subscriber gets that receives each of these heights. */
  async function updatesOf<V, U>(
    heights: readonly (readonly PoolPair[])[],
    open: (loaders: Pick<Loaders, 'sources' | 'options'>) => Promise<SourceStream<V, U>>,
  ): Promise<U[]> {
    const tokens = { current: () => toTokenList([a, b].map((each) => ({ tokenId: each, symbol: 'T', decimals: 0 }))) };
    const heads = createBroadcast<Head>();
    const head = { ...heads, get: async () => heads.current(), newest: heads.current, canFillIn: false };
    const sources = {
      head,
      tokens,
      pools: createPoolCache(),
    } as unknown as Sources;
    const publish = (pools: readonly PoolPair[] | undefined, index: number) =>
      heads.publish({
        beaconHeight: index + 1,
        observedAt: 0,
        exchange: stateAt(index + 1, pools ?? []),
      } as Head);
    publish(heights[0], 0);
    const stream = await open({ sources, options: { afterEvent: undefined } as Loaders['options'] });

    const updates: U[] = [];
    let previous: V | undefined;
    const subscription = stream.subscribe({
      onNext(value) {
        updates.push(stream.toUpdate(value, previous));
        previous = value as V;
        subscription.request();
      },
      onError(reason) {
        throw reason;
      },
    });
    subscription.request();
    for (let index = 1; index < heights.length; index++) {
      await new Promise((resolve) => setImmediate(resolve));
      publish(heights[index], index);
    }
    await new Promise((resolve) => setImmediate(resolve));
    subscription.cancel();
    return updates;
  }

  const idsOf = (pools: readonly PoolPair[]) => pools.map(poolPairId);
  const [firstId = '', secondId = ''] = HEIGHTS[0]?.map(poolPairId) ?? [];

  test('have the prices of the new one, also with onlyChanged, when it has not changed itself', async () => {
    for (const onlyChanged of [false, true]) {
      const updates = await updatesOf(HEIGHTS, (loaders) =>
        createPriceStream({ poolPairs: [key], onlyChanged }, loaders),
      );
      expect(updates.map(({ poolPairs }) => idsOf(poolPairs))).toEqual([[firstId], [secondId], [secondId], [firstId]]);
    }
    const named = await updatesOf(HEIGHTS, (loaders) =>
      createPriceStream({ poolPairs: [{ ...key, poolId: secondId }], onlyChanged: true }, loaders),
    );
    expect(named.map(({ poolPairs }) => idsOf(poolPairs))).toEqual([[secondId], [], [secondId], []]);
  });

  test('cross no bound by that, but when the price of one pool does', async () => {
    const crossings = (above: number, below: number, poolId?: string, heights = HEIGHTS) =>
      updatesOf(heights, (loaders) => createPriceCrossingStream({ ...key, poolId, above, below }, loaders));
    expect(await crossings(75, 75)).toEqual([]);
    for (const poolId of [undefined, secondId])
      expect(await crossings(55, 55, poolId)).toEqual([
        expect.objectContaining({ bound: 55, isAbove: true, poolPair: expect.objectContaining({ beaconHeight: 3 }) }),
      ]);
    expect(await crossings(55, 55, firstId)).toEqual([]);
    // From V1 to V3, no pool is the same.
    const v1 = [poolOf(100n * 10n ** 12n, 10n ** 12n)];
    expect(await crossings(75, 75, undefined, [v1, HEIGHTS[1] ?? [], v1])).toEqual([]);
  });
});
