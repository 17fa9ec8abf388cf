import { describe, expect, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';
import { readSample } from '../support/metrics.ts';
import { BTC, ETH, NOBODYS, PRV, USDT } from '../support/tokens.ts';

describe('prices', () => {
  test('are sent at once, then at each beacon height', async () => {
    const { subscribe, sandbox } = await startGatewayForTest();
    const { chain } = sandbox;
    const pool = chain.pools.find(({ token1, token2 }) => token1.id === PRV && token2.id === BTC);
    const updates = subscribe(
      `subscription { prices(poolPairs: [{ token1Id: "${BTC}", token2Id: "${PRV}" }]) { beaconHeight previousHeight blockTime poolPairs { id beaconHeight token1PoolValue pairs { tickerId poolPair { beaconHeight } } } } }`,
    );
    for (let update = 0; update < 4; update++) {
      const { value } = await updates.next();
      expect(value).toEqual({
        data: {
          prices: {
            beaconHeight: chain.tip.height,
            previousHeight: update === 0 ? null : chain.tip.height - 1,
            blockTime: new Date(chain.tip.time * 1_000).toISOString(),
            poolPairs: [
              {
                id: `PoolPair:${PRV}-${BTC}`,
                beaconHeight: chain.tip.height,
                token1PoolValue: String(pool && chain.reserves(pool)?.reserve1),
                pairs: [{ tickerId: 'pBTC_PRV', poolPair: { beaconHeight: chain.tip.height } }],
              },
            ],
          },
        },
      });
      sandbox.advance();
    }
    await updates.return(undefined);
  });

  test('are those of the selected pools, of the pools of a token, of both together, or of all', async () => {
    const { subscribe, sandbox } = await startGatewayForTest();
    const { pools } = sandbox.chain;
    const firstOf = async (args: string) => {
      const updates = subscribe(`subscription { prices${args} { poolPairs { id } } }`);
      const { value } = await updates.next();
      await updates.return(undefined);
      return value?.data.prices.poolPairs.map(({ id }: { id: string }) => id);
    };
    const idsOf = (wanted: typeof pools) => wanted.map((pool) => `PoolPair:${pool.token1.id}-${pool.token2.id}`).sort();
    const ofEth = pools.filter(({ token1, token2 }) => token1.id === ETH || token2.id === ETH);
    const named = pools.filter(({ token1, token2 }) => token1.id === PRV && token2.id === USDT);

    expect(await firstOf('')).toEqual(idsOf([...pools]));
    expect(await firstOf(`(tokenIds: ["${ETH}"])`)).toEqual(idsOf(ofEth));
    expect(await firstOf(`(tokenIds: ["${ETH}"], poolPairs: [{ token1Id: "${PRV}", token2Id: "${USDT}" }])`)).toEqual(
      idsOf([...ofEth, ...named]),
    );
    expect(await firstOf(`(poolPairs: [{ token1Id: "${PRV}", token2Id: "${NOBODYS}" }])`)).toEqual([]);
  });

  test('can omit unchanged pools, from the second update on', async () => {
    const { subscribe, sandbox } = await startGatewayForTest();
    const { chain } = sandbox;
    const updates = subscribe('subscription { prices(onlyChanged: true) { beaconHeight poolPairs { id } } }');
    const first = await updates.next();
    expect(first.value?.data.prices.poolPairs).toHaveLength(54);

    for (let block = 0; block < 5; block++) {
      sandbox.advance();
      const { height } = chain.tip;
      const changed = chain.pools.filter((pool) => {
        const [before, after] = [chain.reserves(pool, height - 1), chain.reserves(pool, height)];
        return before?.reserve1 !== after?.reserve1 || before?.reserve2 !== after?.reserve2;
      });
      const { value } = await updates.next();
      const ids = changed.map(({ token1, token2 }) => ({ id: `PoolPair:${token1.id}-${token2.id}` }));
      expect(value).toEqual({
        data: { prices: { beaconHeight: height, poolPairs: ids.sort((a, b) => (a.id < b.id ? -1 : 1)) } },
      });
      expect(changed.length).toBeLessThan(54);
    }
    await updates.return(undefined);
  });

  test('with nothing selected are an error', async () => {
    const { subscribe } = await startGatewayForTest();
    for (const args of ['poolPairs: []', 'tokenIds: []', 'tokenIds: ["x"]']) {
      const { value } = await subscribe(`subscription { prices(${args}) { beaconHeight } }`).next();
      expect([args, value?.data ?? null]).toEqual([args, null]);
      expect(value?.errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'BAD_USER_INPUT' }]);
    }
  });
});

describe('market data', () => {
  test("tickers are sent at once, then when the host's response changes", async () => {
    const { subscribe, sandbox } = await startGatewayForTest({ config: { marketPollMs: 50 } });
    const updates = subscribe(
      'subscription { tickers(filter: { tickerIds: ["pBTC_PRV"] }) { lastPrice baseVolume pair { tickerId } poolPair { beaconHeight } } }',
    );
    const first = await updates.next();
    expect(first.value).toEqual({
      data: {
        tickers: [
          {
            lastPrice: expect.any(Number),
            baseVolume: expect.any(Number),
            pair: { tickerId: 'pBTC_PRV' },
            poolPair: { beaconHeight: sandbox.chain.tip.height },
          },
        ],
      },
    });
    const calls = sandbox.marketData.calls('tickers');
    const second = updates.next();
    await expect.poll(() => sandbox.marketData.calls('tickers')).toBeGreaterThan(calls + 2);
    sandbox.advance(20);
    expect((await second).value).not.toEqual(first.value);
    await updates.return(undefined);
  });

  test("an order book is sent at once, then when the host's response changes, with one call for all subscribers", async () => {
    const { subscribe, sandbox, app, clock } = await startGatewayForTest({ config: { orderBookTtlMs: 50 } });
    const query =
      'subscription { orderBook(tickerId: "pBTC_PRV", depth: 2) { timestamp bids { price } asks { price } } }';
    const readers = [subscribe(query), subscribe(query)];
    const first = await Promise.all(readers.map((reader) => reader.next()));
    expect(first[0]?.value).toEqual(first[1]?.value);
    expect(first[0]?.value?.data.orderBook.bids).toHaveLength(1);

    const second = readers.map((reader) => reader.next());
    sandbox.advance();
    clock.now += 50;
    const next = await Promise.all(second);
    expect(next[0]?.value).toEqual(next[1]?.value);
    expect(next[0]?.value).not.toEqual(first[0]?.value);
    const followed = async () => readSample(await app.listen(0, '127.0.0.1'), 'pdex_order_books_followed');
    expect(await followed()).toBe(1);
    await Promise.all(readers.map((reader) => reader.return(undefined)));
    await expect.poll(followed).toBe(0);
  });
});

test('the nested fields of an update are at the height of the update', async () => {
  const { subscribe, advance, sandbox } = await startGatewayForTest({ config: { marketPollMs: 50 } });
  const query = 'subscription { tickers(filter: { tickerIds: ["pBTC_PRV"] }) { lastPrice poolPair { beaconHeight } } }';
  const updates = subscribe(query);
  const heightOf = async () => (await updates.next()).value?.data.tickers[0].poolPair.beaconHeight;
  expect(await heightOf()).toBe(sandbox.chain.tip.height);

  for (let update = 0; update < 3; update++) {
    const clear = sandbox.marketData.faults.set({ kind: 'no-data', on: 'tickers' });
    await advance(25);
    clear();
    expect(await heightOf()).toBe(sandbox.chain.tip.height);
  }
  await updates.return(undefined);
});
