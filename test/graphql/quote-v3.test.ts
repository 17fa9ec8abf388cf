import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type PoolPair, poolPairId } from '../../src/domain/pool-pair.ts';
import { paramsAt } from '../../src/sandbox/v3/params.ts';
import { leastFee, NATIVE_TOKEN, swapAlong } from '../../src/sandbox/v3/trades.ts';
import { bestOf, pathsOf, sellSlowly } from '../domain/v3-routes.ts';
import { startGateway, startGatewayForTest, type TestGateway } from '../support/gateway.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway({ sandbox: { exchange: 'v3' } });
  await gateway.untilReady();
});
afterAll(() => gateway.close());

const statesAt = ({ sandbox: { chain } }: Pick<TestGateway, 'sandbox'>, height = chain.tip.height) =>
  chain.block(height)?.v3?.states ?? new Map();

/** The pools of the simulated chain at a height. */
function poolsOf(from: Pick<TestGateway, 'sandbox'>, height?: number): PoolPair[] {
  const states = statesAt(from, height);
  return from.sandbox.chain.v3Pools.map(({ id, tokens, amplifier, initial }) => {
    const { virtual, real, shares, orders } = states.get(id) ?? initial;
    return {
      beaconHeight: 1,
      token1Id: tokens[0],
      token2Id: tokens[1],
      reserve1: virtual[0],
      reserve2: virtual[1],
      v3: {
        poolId: id,
        value1: real[0],
        value2: real[1],
        amplifier,
        shareAmount: shares,
        feeRateBps: 0,
        orders: orders.map(({ id: order, sells, rates, balances }: (typeof orders)[number]) => ({
          id: order,
          sells: sells === 0 ? 1 : 2,
          rate1: rates[0],
          rate2: rates[1],
          balance1: balances[0],
          balance2: balances[1],
        })),
      },
    };
  });
}

const QUOTE = `query ($sell: TokenId!, $buy: TokenId!, $sellAmount: BigInt, $buyAmount: BigInt, $maxHops: Int, $route: [String!], $at: BeaconHeight) {
  quote(sellTokenId: $sell, buyTokenId: $buy, sellAmount: $sellAmount, buyAmount: $buyAmount, maxHops: $maxHops, route: $route, at: $at) {
    beaconHeight sellAmount buyAmount priceImpactPercent minimumReceived(slippagePercent: 1)
    fee { rateBps inSellToken inNativeToken }
    route { poolPair { key } sellToken { tokenId } buyToken { tokenId } sellAmount buyAmount }
  }
}`;

type Step = { poolPair: { key: string }; sellToken: { tokenId: string }; sellAmount: string; buyAmount: string };

/** Tokens with most pools first. */
function busiestTokens(pools: readonly PoolPair[]): string[] {
  const counts = new Map<string, number>();
  for (const pool of pools)
    for (const token of [pool.token1Id, pool.token2Id]) counts.set(token, (counts.get(token) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one).map(([token]) => token);
}

/** The fee that the exchange asks for at a height, by the sandbox. */
function feeOf(from: Pick<TestGateway, 'sandbox'>, path: readonly string[], sellToken: string, sellAmount: bigint) {
  const { chain } = from.sandbox;
  const pools = { all: new Map(chain.v3Pools.map((pool) => [pool.id, pool])), states: statesAt(from) };
  const ids = chain.v3Pools.map(({ id }) => id);
  const params = paramsAt(chain.tip.height, ids);
  const least = (isFeeInNativeToken: boolean) =>
    leastFee(pools, params, { path, sellToken, sellAmount, isFeeInNativeToken });
  const rates = path.map((id) => params.feeRateBps.get(id) ?? params.defaultFeeRateBps);
  const inNativeToken = least(true);
  return {
    rateBps: rates.reduce((sum, rate) => sum + rate, 0),
    inSellToken: String(least(false)),
    inNativeToken: inNativeToken === undefined ? null : String(inNativeToken),
  };
}

describe('a quote of V3', () => {
  const amounts = [1n, 5_000n, 10n ** 9n, 10n ** 12n, 10n ** 15n];

  test.each([1, 3])('is the best of all paths of at most %i pools, with its fee', async (maxHops) => {
    const pools = poolsOf(gateway);
    const tokens = busiestTokens(pools);
    let quotes = 0;
    for (const [index, sell] of tokens.slice(0, 4).entries()) {
      const buy = tokens[(index * 7 + maxHops) % tokens.length] ?? '';
      if (sell === buy) continue;
      const found = pathsOf(pools, sell, buy, maxHops);
      for (const amount of amounts) {
        const paths = found.map((path) => [path, sellSlowly(path, sell, amount)] as const);
        const best = bestOf('SELLING', paths);
        const { data, errors } = await gateway.ask(QUOTE, { sell, buy, sellAmount: String(amount), maxHops });
        expect(errors).toBeUndefined();
        const { quote } = data;
        expect(
          quote && { ids: quote.route.map(({ poolPair }: Step) => poolPair.key), amount: BigInt(quote.buyAmount) },
        ).toEqual(best ?? null);
        if (quote === null) continue;
        quotes += 1;
        const path = quote.route.map(({ poolPair }: Step) => poolPair.key);
        expect(quote.fee).toEqual(feeOf(gateway, path, sell, amount));
      }
    }
    expect(quotes).toBeGreaterThan(maxHops === 1 ? 2 : 5);
  });

  test('along a route is what the exchange would do, in amounts and refusals', async () => {
    const { chain } = gateway.sandbox;
    const all = new Map(chain.v3Pools.map((pool) => [pool.id, pool]));
    const pools = poolsOf(gateway);
    const [sell = '', ...others] = busiestTokens(pools);
    const seen = new Set<string>();
    for (const buy of others.slice(0, 4)) {
      const paths = pathsOf(pools, sell, buy, 3);
      for (const path of [...paths.slice(0, 3), ...paths.slice(-2)]) {
        const route = path.map(poolPairId);
        for (const amount of [...amounts, 2n ** 64n - 1n]) {
          const trade = { path: route, sellToken: sell, sellAmount: amount };
          const expected = swapAlong({ all, states: new Map(statesAt(gateway)) }, trade);
          const { data, errors } = await gateway.ask(QUOTE, { sell, buy, sellAmount: String(amount), route });
          if (typeof expected === 'string') {
            seen.add(expected);
            expect(data).toEqual({ quote: null });
            expect(errors).toMatchObject([
              { path: ['quote'], extensions: { code: 'TRADE_REFUSED', reason: expected } },
            ]);
            continue;
          }
          expect(errors).toBeUndefined();
          expect(data.quote.route.map((step: Step) => [step.poolPair.key, step.sellAmount, step.buyAmount])).toEqual(
            expected.map(({ pool, swaps: [swap] }, hop) => [
              pool.id,
              String(hop === 0 ? amount : expected[hop - 1]?.swaps[0].bought),
              String(swap.bought),
            ]),
          );
        }
      }
    }
    expect(seen.size).toBeGreaterThan(1);
  });

  test('along a route is the same however a host spells its ids', async () => {
    const [pool] = poolsOf(gateway);
    const route = [pool && poolPairId(pool)];
    const trade = { sell: pool?.token1Id, buy: pool?.token2Id, sellAmount: '1000000000' };
    const expected = await gateway.ask(QUOTE, { ...trade, route });
    expect(expected.data.quote.route).toMatchObject([{ poolPair: { key: route[0] } }]);
    expect(await gateway.ask(QUOTE, { ...trade, route: route.map((id) => id?.toUpperCase()) })).toEqual(expected);
    const twice = await gateway.ask(QUOTE, { ...trade, route: [...route, route[0]?.toUpperCase()] });
    expect(twice.errors?.[0]?.extensions).toMatchObject({ reason: 'POOL_TWICE' });
  });

  test('for an amount to buy sells the least that gives as much, along the best route and along a given one', async () => {
    const pools = poolsOf(gateway);
    const [sell = '', buy = ''] = busiestTokens(pools);
    for (const buyAmount of ['1', '777', '1000000007', '5000000000123']) {
      const { data } = await gateway.ask(QUOTE, { sell, buy, buyAmount, maxHops: 5 });
      if (data.quote === null) continue;
      const { sellAmount, route } = data.quote;
      expect(BigInt(data.quote.buyAmount) >= BigInt(buyAmount)).toBe(true);
      const more = await gateway.ask(QUOTE, { sell, buy, sellAmount, maxHops: 5 });
      expect(BigInt(more.data.quote.buyAmount) >= BigInt(buyAmount)).toBe(true);
      const less = await gateway.ask(QUOTE, { sell, buy, sellAmount: String(BigInt(sellAmount) - 1n), maxHops: 5 });
      expect(BigInt(less.data?.quote?.buyAmount ?? 0) < BigInt(buyAmount)).toBe(true);
      const ids = route.map(({ poolPair }: Step) => poolPair.key);
      const along = await gateway.ask(QUOTE, { sell, buy, buyAmount, route: ids });
      expect(along.data.quote).toEqual(data.quote);
    }
  });

  test('at an earlier height is computed from its pools', async () => {
    const at = gateway.sandbox.chain.tip.height - 40;
    const pools = poolsOf(gateway, at);
    const [sell = '', buy = ''] = busiestTokens(pools);
    const { data } = await gateway.ask(QUOTE, { sell, buy, sellAmount: '1000000000', maxHops: 2, at });
    const paths = pathsOf(pools, sell, buy, 2).map((path) => [path, sellSlowly(path, sell, 10n ** 9n)] as const);
    expect(data.quote).toMatchObject({ beaconHeight: at, buyAmount: String(bestOf('SELLING', paths)?.amount) });
  });

  test('that sells the native coin has its fee in it, with the discount', async () => {
    const buy = busiestTokens(poolsOf(gateway)).find((token) => token !== NATIVE_TOKEN);
    const { data } = await gateway.ask(QUOTE, { sell: NATIVE_TOKEN, buy, sellAmount: '1000000000000', maxHops: 1 });
    const { fee, route } = data.quote;
    expect(fee.inNativeToken).toBe(fee.inSellToken);
    expect(fee).toEqual(feeOf(gateway, [route[0].poolPair.key], NATIVE_TOKEN, 10n ** 12n));
  });
});

test('a quote costs one point more for each hop and each 50 pools, and along a route one for each of its pools', async () => {
  const url = await gateway.app.listen(0, '127.0.0.1');
  const complexityOf = async (variables: { maxHops?: number; route?: readonly string[] }) => {
    const query = `query ($maxHops: Int, $route: [String!]) {
      quote(sellTokenId: "${NATIVE_TOKEN}", buyTokenId: "${'e'.repeat(64)}", sellAmount: 1, maxHops: $maxHops, route: $route) { price }
    }`;
    const headers = { 'content-type': 'application/json', 'x-pdex-cost': '1' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
    return (await response.json()).extensions.cost.complexity;
  };
  const perHop = Math.ceil(gateway.sandbox.chain.v3Pools.length / 50);
  expect(perHop).toBeGreaterThan(1);
  expect((await complexityOf({ maxHops: 5 })) - (await complexityOf({ maxHops: 1 }))).toBeCloseTo(4 * perHop);
  const routeOf = (pools: number) => ({
    route: Array<string>(pools).fill([1, 2, 3].map(() => 'a'.repeat(64)).join('-')),
  });
  // Long ids count too.
  const more = (await complexityOf(routeOf(4))) - (await complexityOf(routeOf(1)));
  expect([more > 3, more < 8]).toEqual([true, true]);
});

describe('a route', () => {
  const hash = 'e'.repeat(64);

  test.each<[string, (ids: readonly string[]) => readonly string[], string]>([
    ['with a pool twice', ([one = '']) => [`${hash}-${hash}-${hash}`, one, one], 'POOL_TWICE'],
    ['with a pool that does not exist', ([one = '']) => [one, `${hash}-${hash}-${hash}`], 'NO_SUCH_POOL'],
    ['that leads elsewhere', (ids) => ids.slice(0, 1), 'ROUTE_DOES_NOT_FIT'],
  ])('%s is TRADE_REFUSED', async (_, toRoute, reason) => {
    const pools = poolsOf(gateway);
    const [pool] = pools;
    const route = toRoute(pools.map(poolPairId));
    // With a route, `maxHops` does not matter.
    const trade = { sell: pool?.token1Id, buy: hash, sellAmount: '1', maxHops: 9 };
    const { data, errors } = await gateway.ask(`query ${QUOTE.slice(5)}`, { ...trade, route });
    expect(data).toEqual({ quote: null });
    expect(errors).toEqual([
      {
        message: expect.stringMatching(/^The exchange would refuse this trade: /),
        path: ['quote'],
        locations: expect.any(Array),
        extensions: { code: 'TRADE_REFUSED', reason },
      },
    ]);
  });

  test.each<[string, unknown]>([
    ['without pools', []],
    ['of six pools', Array(6).fill(`${hash}-${hash}-${hash}`)],
    ['with a pool of V1', [`${hash}-${hash}`]],
    ['with a word', ['pool']],
  ])('%s is BAD_USER_INPUT', async (_, route) => {
    const { data, errors } = await gateway.ask(QUOTE, { sell: hash, buy: NATIVE_TOKEN, sellAmount: '1', route });
    expect(data).toEqual({ quote: null });
    expect(errors).toMatchObject([{ path: ['quote'], extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(errors?.[0]?.message).toMatch(/route|is not a pool id/);
  });

  test('can come back to the token that is sold, through another pool', async () => {
    const ofUsdt = gateway.sandbox.chain.markets.filter(({ tickerId }) => tickerId === 'PRV_pUSDT');
    const route = ofUsdt.slice(0, 2).map(({ poolId }) => poolId);
    const trade = { sell: NATIVE_TOKEN, buy: NATIVE_TOKEN, sellAmount: '1000000000', route };
    const { data, errors } = await gateway.ask(QUOTE, trade);
    expect(errors).toBeUndefined();
    expect(data.quote.route.map(({ poolPair }: Step) => poolPair.key)).toEqual(route);
  });

  test('is BAD_USER_INPUT in V1, also in each update of a subscription, and a quote of V1 has no fee', async () => {
    const v1 = await startGatewayForTest();
    await v1.untilReady();
    const args = `sellTokenId: "${NATIVE_TOKEN}", buyTokenId: "${hash}", sellAmount: 1, route: ["${hash}-${hash}-${hash}"]`;
    const { data, errors } = await v1.ask(`{ quote(${args}) { fee { rateBps } } }`);
    expect(data).toEqual({ quote: null });
    expect(errors).toMatchObject([{ path: ['quote'], extensions: { code: 'BAD_USER_INPUT' } }]);
    const updates = v1.subscribe(`subscription { quote(${args}) { buyAmount } }`);
    expect((await updates.next()).value?.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    await updates.return(undefined);

    const [pool] = v1.sandbox.chain.pools;
    const pair = `sellTokenId: "${pool?.token1.id}", buyTokenId: "${pool?.token2.id}"`;
    const quoted = await v1.ask(`{ quote(${pair}, sellAmount: 1000000000) { fee { rateBps } } }`);
    expect(quoted).toEqual({ data: { quote: { fee: null } } });
  });
});

test('the subscription follows a route, and stays open while the exchange would refuse it', async () => {
  const live = await startGatewayForTest({ sandbox: { exchange: 'v3' } });
  await live.untilReady();
  const pools = poolsOf(live);
  const pool = pools.find(({ v3 }) => (v3?.value1 ?? 0n) > 10n ** 12n && (v3?.value2 ?? 0n) > 10n ** 9n);
  const variables = { sell: pool?.token1Id, buy: pool?.token2Id, route: [pool && poolPairId(pool)] };
  const SUBSCRIPTION = QUOTE.replace('query', 'subscription')
    .replace(', $at: BeaconHeight', '')
    .replace(', at: $at', '');
  const updates = live.subscribe(SUBSCRIPTION, { ...variables, sellAmount: '1000000000' });
  const refused = live.subscribe(SUBSCRIPTION, { ...variables, buyAmount: '18446744073709551615' });
  for (let block = 0; block < 3; block++) {
    const now = poolsOf(live).filter((each) => poolPairId(each) === (pool && poolPairId(pool)));
    const bought = sellSlowly(now, pool?.token1Id ?? '', 10n ** 9n);
    expect((await updates.next()).value).toMatchObject({ data: { quote: { buyAmount: String(bought) } } });
    expect((await refused.next()).value).toMatchObject({
      data: { quote: null },
      errors: [{ extensions: { code: 'TRADE_REFUSED', reason: 'REAL_RESERVE_TOO_SMALL' } }],
    });
    live.sandbox.advance();
  }
  await Promise.all([updates.return(undefined), refused.return(undefined)]);
});
