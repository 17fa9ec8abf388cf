import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import { createContext } from '../../src/graphql/context.ts';
import { poolOf } from '../domain/pools.ts';
import { bestPath, type Trade } from '../domain/routes.ts';
import { startGateway, startGatewayForTest, type TestGateway } from '../support/gateway.ts';
import { BTC, ETH, NOBODYS, PRV, USDT, XMR } from '../support/tokens.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
  await gateway.ask('{ beaconHeight }');
});
afterAll(() => gateway.close());

/** The pools of the simulated chain at a height. */
function poolsAt({ sandbox: { chain } }: Pick<TestGateway, 'sandbox'>, beaconHeight = chain.tip.height): PoolPair[] {
  return chain.pools.flatMap((pool) => {
    const reserves = chain.reserves(pool, beaconHeight);
    if (reserves === undefined) return [];
    const { reserve1, reserve2 } = reserves;
    return [poolOf(reserve1, reserve2, { beaconHeight, token1Id: pool.token1.id, token2Id: pool.token2.id })];
  });
}

const ROUTE = 'route { poolPair { id beaconHeight } sellToken { tokenId } buyToken { tokenId } sellAmount buyAmount }';

/** The answer to a quote with {@link ROUTE}, by trying all paths. */
function expectedQuote(pools: readonly PoolPair[], trade: Trade, atHeight = '') {
  const path = bestPath(pools, trade);
  if (path === undefined) return null;
  let token = trade.sellTokenId;
  const route = path.pools.map(({ beaconHeight, token1Id, token2Id }, hop) => {
    const sold = token;
    token = token1Id === sold ? token2Id : token1Id;
    return {
      poolPair: { id: `PoolPair:${token1Id}-${token2Id}${atHeight}`, beaconHeight },
      sellToken: { tokenId: sold },
      buyToken: { tokenId: token },
      sellAmount: String(path.amounts[hop]),
      buyAmount: String(path.amounts[hop + 1]),
    };
  });
  return { sellAmount: String(path.amounts[0]), buyAmount: String(path.amounts.at(-1)), route };
}

const QUOTE = `query ($sellTokenId: TokenId!, $buyTokenId: TokenId!, $sellAmount: BigInt, $buyAmount: BigInt, $maxHops: Int, $at: BeaconHeight) {
  quote(sellTokenId: $sellTokenId, buyTokenId: $buyTokenId, sellAmount: $sellAmount, buyAmount: $buyAmount, maxHops: $maxHops, at: $at) {
    sellAmount buyAmount ${ROUTE}
  }
}`;

const toVariables = ({ sellAmount, buyAmount, ...trade }: Trade) => ({
  ...trade,
  ...(sellAmount !== undefined && { sellAmount: String(sellAmount) }),
  ...(buyAmount !== undefined && { buyAmount: String(buyAmount) }),
});

const pair = { sellTokenId: PRV, buyTokenId: BTC };
const WHOLE = 10n ** 9n;

describe('a quote', () => {
  const trades: readonly Trade[] = [
    { ...pair, sellAmount: 100n * WHOLE, maxHops: 3 },
    { ...pair, sellAmount: 1n, maxHops: 2 },
    { ...pair, buyAmount: WHOLE, maxHops: 1 },
    { ...pair, buyAmount: 1_000_000n * WHOLE, maxHops: 3 },
    { sellTokenId: XMR, buyTokenId: ETH, sellAmount: WHOLE, maxHops: 1 },
    { sellTokenId: XMR, buyTokenId: ETH, sellAmount: WHOLE, maxHops: 2 },
    { sellTokenId: ETH, buyTokenId: USDT, sellAmount: 1_000n * WHOLE, maxHops: 4 },
    { sellTokenId: USDT, buyTokenId: ETH, buyAmount: 900n * WHOLE, maxHops: 2 },
    { sellTokenId: PRV, buyTokenId: NOBODYS, sellAmount: WHOLE, maxHops: 3 },
    { sellTokenId: NOBODYS, buyTokenId: PRV, buyAmount: WHOLE, maxHops: 3 },
  ];
  test.each(trades)('is the best of all paths: $sellAmount, $buyAmount, $maxHops pools', async (trade) => {
    const { data, errors } = await gateway.ask(QUOTE, toVariables(trade));
    expect(errors).toBeUndefined();
    expect(data.quote).toEqual(expectedQuote(poolsAt(gateway), trade));
  });

  test('at an earlier height is computed from its reserves, and its pools are those of that height', async () => {
    const at = gateway.sandbox.chain.tip.height - 100;
    for (const amount of [{ sellAmount: 50n * WHOLE }, { buyAmount: WHOLE }]) {
      const trade = { ...pair, ...amount, maxHops: 3 };
      const { data, errors } = await gateway.ask(QUOTE, { ...toVariables(trade), at });
      expect(errors).toBeUndefined();
      expect(data.quote).toEqual(expectedQuote(poolsAt(gateway, at), trade, `@${at}`));
    }
  });

  test('has its height, tokens, price, price impact and minimum', async () => {
    const { data } = await gateway.ask(`{
      beaconHeight
      quote(sellTokenId: "${PRV}", buyTokenId: "${BTC}", buyAmount: 1000000000, maxHops: 1) {
        beaconHeight sellToken { symbol } buyToken { symbol } sellAmount price priceImpactPercent
        all: minimumReceived(slippagePercent: 0) minimumReceived less: minimumReceived(slippagePercent: 0.1)
        nothing: minimumReceived(slippagePercent: 100)
        route { priceImpactPercent poolPair { exactPrice spotPrice } }
      }
    }`);
    const { route, sellAmount, ...quote } = data.quote;
    const [step] = route;
    const price = Number(sellAmount) / 1e9;
    expect(quote).toEqual({
      beaconHeight: data.beaconHeight,
      sellToken: { symbol: 'PRV' },
      buyToken: { symbol: 'BTC' },
      price:
        (BigInt(sellAmount) / WHOLE).toString() +
        `.${String(BigInt(sellAmount) % WHOLE).padStart(9, '0')}`.replace(/\.?0+$/, ''),
      priceImpactPercent: step.priceImpactPercent,
      all: '1000000000',
      minimumReceived: '995000000',
      less: '999000000',
      nothing: '0',
    });
    expect(step.priceImpactPercent).toBeCloseTo(100 * (1 - step.poolPair.spotPrice / price), 9);
  });

  test('of a token with unknown decimals has no price', async () => {
    const nameless = gateway.sandbox.chain.tokens.find(({ symbol }) => symbol === undefined)?.id;
    const { data, errors } = await gateway.ask(
      `{ quote(sellTokenId: "${PRV}", buyTokenId: "${nameless}", sellAmount: "1000000000") { buyAmount price buyToken { symbol decimals } } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.quote).toEqual({
      buyAmount: expect.stringMatching(/^[1-9]\d*$/),
      price: null,
      buyToken: { symbol: null, decimals: null },
    });
  });

  test('needs no call to the node, and one height is read once for many quotes', async () => {
    const { chain, node } = gateway.sandbox;
    const at = chain.tip.height - 50;
    const fields = Array.from({ length: 20 }, (_, n) => {
      const trade = `sellTokenId: "${PRV}", buyTokenId: "${ETH}", sellAmount: ${1_000_000 + n}`;
      return `now${n}: quote(${trade}) { buyAmount } then${n}: quote(${trade}, at: ${at}) { beaconHeight buyAmount }`;
    });
    const calls = node.calls('getpdestate');
    const { data, errors } = await gateway.ask(`{ ${fields.join(' ')} }`);
    expect(errors).toBeUndefined();
    expect(node.calls('getpdestate')).toBe(calls + 1);
    expect(Object.keys(data)).toHaveLength(40);
    expect(data.then19.beaconHeight).toBe(at);
  });

  test('at a height that is not there is HEIGHT_NOT_AVAILABLE', async () => {
    const { height } = gateway.sandbox.chain.tip;
    for (const at of [height + 1, 1]) {
      const { data, errors } = await gateway.ask(QUOTE, { ...pair, sellAmount: '1000', at });
      expect(data).toEqual({ quote: null });
      expect(errors?.map(({ path, extensions }) => [path, extensions])).toEqual([
        [['quote'], { code: 'HEIGHT_NOT_AVAILABLE', beaconHeight: height }],
      ]);
    }
  });
});

test('a quote is cached as long as its height: until the next one, or for ever if the height is final', async () => {
  const url = new URL(await gateway.app.listen(0, '127.0.0.1'));
  const { height } = gateway.sandbox.chain.tip;
  const get = (at: number | undefined) => {
    const trade = `sellTokenId: "${PRV}", buyTokenId: "${BTC}", sellAmount: "1000000000"`;
    url.search = String(
      new URLSearchParams({
        query: `{ quote(${trade}${at ? `, at: ${at}` : ''}) { buyAmount route { poolPair { id } } } }`,
      }),
    );
    return fetch(url);
  };
  const now = await get(undefined);
  expect(now.headers.get('cache-control')).toBe('no-cache');
  expect(now.headers.get('etag')).toBeTruthy();
  expect((await get(height)).headers.get('cache-control')).toBe('no-cache');
  expect((await get(height - 3)).headers.get('cache-control')).toMatch(/immutable/);
});

test('quotes that waited for an earlier height are computed one in each turn of the event loop', async () => {
  const { sandbox, app } = gateway;
  const { loaders } = createContext(app.service);
  const at = sandbox.chain.tip.height - 30;
  let turn = 0;
  let isOver = false;
  const countTurns = () => {
    turn += 1;
    if (!isOver) setImmediate(countTurns);
  };
  countTurns();
  const turns = await Promise.all(
    Array.from({ length: 10 }, async (_, n) => {
      await loaders.quotes.find({ ...pair, sellAmount: BigInt(n + 1), at });
      return turn;
    }),
  );
  isOver = true;
  expect(new Set(turns).size).toBe(10);
});

describe('an amount', () => {
  test.each([
    ['a string in the document', '"18446744073709551615"'],
    ['an integer in the document, with all its digits', '18446744073709551615'],
  ])('can be %s', async (_, sellAmount) => {
    const { data, errors } = await gateway.ask(
      `{ quote(sellTokenId: "${PRV}", buyTokenId: "${BTC}", sellAmount: ${sellAmount}) { sellAmount } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.quote.sellAmount).toBe('18446744073709551615');
  });

  test.each(['9007199254740993', 9_007_199_254_740_991])('can be a variable: %j', async (sellAmount) => {
    const { data, errors } = await gateway.ask(QUOTE, { ...pair, sellAmount });
    expect(errors).toBeUndefined();
    expect(data.quote.sellAmount).toBe(String(sellAmount));
  });
});

const BAD_ARGUMENTS: readonly (readonly [string, string, RegExp])[] = [
  ['no amount', '', /^Set sellAmount or buyAmount\.$/],
  ['an amount that is null', 'sellAmount: null', /^Set sellAmount or buyAmount\.$/],
  ['both amounts', 'sellAmount: 1, buyAmount: 1', /sellAmount or buyAmount, not both/],
  ['an amount of 0', 'sellAmount: 0', /^sellAmount is 0\./],
  ['a bought amount of 0', 'buyAmount: "0"', /^buyAmount is 0\./],
  ['an amount below 0', 'sellAmount: -1', /^sellAmount is not valid\./],
  ['an amount above 2^64 - 1', 'buyAmount: "18446744073709551616"', /^buyAmount is not valid\./],
  ['half an amount', 'sellAmount: 1.5', /^sellAmount is not valid\./],
  ['an amount that is a word', 'sellAmount: "all"', /^sellAmount is not valid\./],
  ['an amount that is a list', 'sellAmount: [1]', /^sellAmount is not valid\./],
  ['no pool', 'sellAmount: 1, maxHops: 0', /^maxHops is 0\. It must be from 1 to 5, in V1 to 4\.$/],
  ['too many pools', 'sellAmount: 1, maxHops: 5', /^maxHops is 5\. It must be from 1 to 5, in V1 to 4\.$/],
  [
    'a number of pools below 0',
    'sellAmount: 1, maxHops: -2147483648',
    /^maxHops is -2147483648\. It must be from 1 to 5, in V1 to 4\.$/,
  ],
];

describe('bad arguments are BAD_USER_INPUT with the name of the argument', () => {
  const ofField = (bad: string) => [
    { message: expect.any(String), path: [bad], locations: expect.any(Array), extensions: { code: 'BAD_USER_INPUT' } },
  ];

  test.each(BAD_ARGUMENTS)('%s', async (_, args, message) => {
    const { data, errors } = await gateway.ask(
      `{ bad: quote(sellTokenId: "${PRV}", buyTokenId: "${BTC}", ${args}) { buyAmount } beaconHeight }`,
    );
    expect(data).toEqual({ bad: null, beaconHeight: gateway.sandbox.chain.tip.height });
    expect(errors).toEqual(ofField('bad'));
    expect(errors?.[0]?.message).toMatch(message);
  });

  test.each([
    ['the same token twice', PRV, PRV, /^sellTokenId and buyTokenId/],
    ['a token that is none', PRV, 'x', /^buyTokenId is not valid\./],
  ])('%s', async (_, sellTokenId, buyTokenId, message) => {
    const { data, errors } = await gateway.ask(QUOTE, { sellTokenId, buyTokenId, sellAmount: '1' });
    expect(data).toEqual({ quote: null });
    expect(errors).toEqual(ofField('quote'));
    expect(errors?.[0]?.message).toMatch(message);
  });

  test.each([-1, '18446744073709551616', 9_007_199_254_740_992, 'x', true])('a variable %j', async (buyAmount) => {
    const { data, errors } = await gateway.ask(QUOTE, { ...pair, buyAmount });
    expect(data).toEqual({ quote: null });
    expect(errors).toEqual(ofField('quote'));
    expect(errors?.[0]?.message).toMatch(/^buyAmount is not valid\./);
  });

  test.each([-0.1, 100.1, 1e300])('a slippage of %d percent', async (percent) => {
    const { data, errors } = await gateway.ask(
      `{ quote(sellTokenId: "${PRV}", buyTokenId: "${BTC}", sellAmount: 1000000000) { minimumReceived(slippagePercent: ${percent}) } beaconHeight }`,
    );
    expect(data).toEqual({ quote: null, beaconHeight: gateway.sandbox.chain.tip.height });
    expect(errors).toMatchObject([{ path: ['quote', 'minimumReceived'], extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(errors?.[0]?.message).toMatch(/^slippagePercent is /);
  });

  test('also of a subscription, which does not start', async () => {
    for (const [name, args, message] of BAD_ARGUMENTS) {
      // Another version could trade at a later height.
      if (name === 'too many pools') continue;
      const updates = gateway.subscribe(
        `subscription { quote(sellTokenId: "${PRV}", buyTokenId: "${BTC}", ${args}) { buyAmount } }`,
      );
      const { value } = await updates.next();
      expect(value?.data ?? null).toBeNull();
      expect(value?.errors).toMatchObject([{ path: ['quote'], extensions: { code: 'BAD_USER_INPUT' } }]);
      expect(value?.errors?.[0]?.message).toMatch(message);
      expect((await updates.next()).done).toBe(true);
    }
  });
});

describe('the subscription', () => {
  const SUBSCRIPTION = QUOTE.replace('query', 'subscription')
    .replace(', $at: BeaconHeight', '')
    .replace(', at: $at', '');

  test('sends the quote at once, then at each beacon height, also while there is none', async () => {
    const live = await startGatewayForTest();
    const trade = { ...pair, sellAmount: 100n * WHOLE, maxHops: 3 };
    const updates = live.subscribe(SUBSCRIPTION, toVariables(trade));
    const none = live.subscribe(SUBSCRIPTION, { ...toVariables(trade), buyTokenId: NOBODYS });
    for (let block = 0; block < 4; block++) {
      const { value } = await updates.next();
      expect(value).toEqual({ data: { quote: expectedQuote(poolsAt(live), trade) } });
      expect((await none.next()).value).toEqual({ data: { quote: null } });
      live.sandbox.advance();
    }
    await Promise.all([updates.return(undefined), none.return(undefined)]);
  });

  test('reports the error of a node that cannot be read, and goes on with the first height', async () => {
    const live = await startGatewayForTest({
      before: ({ node }) => void node.faults.set({ kind: 'status', status: 500 }),
    });
    const updates = live.subscribe(SUBSCRIPTION, { ...pair, sellAmount: '1000000000' });
    const { value: first } = await updates.next();
    expect(first?.data).toEqual({ quote: null });
    expect(first?.errors).toMatchObject([
      { path: ['quote'], extensions: { code: expect.stringMatching(/^UPSTREAM_/) } },
    ]);
    live.sandbox.node.faults.clear();
    const { value: second } = await updates.next();
    expect(second).toEqual({ data: { quote: expect.objectContaining({ sellAmount: '1000000000' }) } });
    await updates.return(undefined);
  });
});
