import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../../src/upstream/json.ts';
import type { PoolsV3Reader } from '../../../src/upstream/node/pools-v3.ts';
import { ShapeError, TooLargeError, type WireObject } from '../../../src/upstream/wire.ts';
import { anySizes, anySpaces, outcomeOf, outcomeOfChunks, spaceOut, withoutStackTraces } from '../chunks.ts';
import { readFixture } from '../fixture.ts';
import { anyMutations, mutateAll, print } from '../mutations.ts';
import {
  HEIGHT_V3,
  newPoolsReader,
  POOLS_V3,
  poolsResponse,
  readPools,
  readWholePools,
  resultOf,
  toRows,
} from './pools-v3.ts';

const RECORDED = parseJson(POOLS_V3) as { readonly Result: WireObject };
const PRV = '0000000000000000000000000000000000000000000000000000000000000004';
const BTC = 'b832e5d3b1f01a4f0623f7fe91d6673461e1f5d37d91fe78c5c2e6183ff39696';
const HASH = 'ab'.repeat(32);
const ID = `${PRV}-${BTC}-${HASH}`;

const STATE = {
  Token0ID: PRV,
  Token1ID: BTC,
  Token0RealAmount: 10,
  Token1RealAmount: 20,
  Token0VirtualAmount: 30,
  Token1VirtualAmount: 60,
  Amplifier: 30_000,
  ShareAmount: 14,
};
const ORDER = {
  Id: 'cd'.repeat(32),
  NftID: 'ef'.repeat(32),
  Token0Rate: 3,
  Token1Rate: 7,
  Token0Balance: 2,
  Token1Balance: 0,
  TradeDirection: 0,
  Receiver: ['a', 'b'],
};
const READ_ORDER = { id: ORDER.Id, sells: 1, rate1: 3n, rate2: 7n, balance1: 2n, balance2: 0n };

/** The text of a response with these members of `PoolPairs`, each `"key": value`. */
const responseWith = (...members: readonly string[]) =>
  `{"Id":1,"Result":{"BeaconTimeStamp":1658721643,"PoolPairs":{${members.join()}}},"Error":null}`;

/** A member of `PoolPairs`, with the text of its order book. */
const poolWith = (book: string, state: object = {}, id = ID) =>
  `"${id}":{"State":${print({ ...STATE, ...state })},"Orderbook":${book},"LpFeesPerShare":null}`;

const orders = (...list: readonly object[]) => `{"orders":${print(list)}}`;
const withOrder = (order: object) => poolWith(orders({ ...ORDER, ...order }));

/** A copy of the recorded response with its pools in another order. */
function inOrderOf(order: readonly number[]): string {
  const pools = Object.entries(RECORDED.Result['PoolPairs'] ?? {});
  const moved = pools.map((pool, at) => ({ pool, rank: order[at] ?? 0 })).sort((a, b) => a.rank - b.rank);
  const PoolPairs = Object.fromEntries(moved.map(({ pool }) => pool));
  return print({ ...RECORDED, Result: { PoolPairs, BeaconTimeStamp: RECORDED.Result['BeaconTimeStamp'] } });
}

describe('a response with pools', () => {
  test('is read exactly: virtual amounts beyond 64 bits, what pools hold, and orders in the order of the node', () => {
    const { beaconHeight, time, pools } = toRows(readPools(POOLS_V3));
    expect([beaconHeight, time, pools.length]).toEqual([HEIGHT_V3, 1_658_721_643_000, 8]);
    expect(pools.at(-1)).toMatchObject({
      real1: 9_000_000_000_000_000_001n,
      real2: 12_000_000_000_000_000_003n,
      virtual1: 27_000_000_000_000_000_003n,
      virtual2: 36_000_000_000_000_000_009n,
      amplifier: 30_000,
      orders: [],
    });
    expect(pools.map((pool) => pool.orders?.length)).toEqual(
      readWholePools(RECORDED.Result, HEIGHT_V3).pools.map((pool) => pool.orders.length),
    );
    expect(pools.flatMap((pool) => pool.orders ?? [])).toHaveLength(16);
  });

  test('of an old node has the same pools, and no orders', () => {
    const old = readPools(readFixture('node/v3/pool-pairs.verbosity-2'), undefined, { hasOrders: false });
    const { v3, ...state } = readPools(POOLS_V3);
    expect(old).toEqual({ ...state, v3: { ...v3, orders: undefined } });
  });

  test.each([1, 2, 3, 7, 64])('is the same in chunks of %i bytes', (size) => {
    for (const text of [POOLS_V3, print(RECORDED)])
      expect(outcomeOfChunks(text, [size], poolsResponse())).toEqual({ value: readPools(POOLS_V3) });
  });

  test('gives the same as one that is parsed as a whole, whatever is changed in it and however it is cut', () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(anyMutations, anySpaces, anySizes, (changes, space, sizes) => {
        const text = Buffer.from(spaceOut(print(mutateAll(RECORDED, changes)) ?? '', space)).toString();
        const whole = outcomeOf(() => readWholePools(resultOf(parseJson(text)), HEIGHT_V3));
        fc.pre(whole !== 'it is not JSON');
        const response = poolsResponse();
        const read = outcomeOfChunks(text, sizes, { ...response, end: () => toRows(response.end()) });
        expect(read).toEqual(whole);
        seen.add(Object.keys(whole ?? {}).join());
      }),
      { numRuns: 200 },
    );
    expect([...seen].sort()).toEqual(['error', 'value']);
  });

  test('is the same whatever the order of its pools and members, and shares the directory', () => {
    const reader = newPoolsReader();
    const before = readPools(POOLS_V3, reader);
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 8, maxLength: 8 }), (order) => {
        const state = readPools(inOrderOf(order), reader);
        expect(state).toEqual(before);
        expect(state.directory).toBe(before.directory);
      }),
      { numRuns: 20 },
    );
  });

  test('may have members twice: the last one counts', () => {
    const other = poolWith(orders(ORDER, ORDER), { Token0RealAmount: 11 });
    const expected = readPools(responseWith(poolWith(orders(ORDER))));
    expect(readPools(responseWith(other, poolWith(orders(ORDER))))).toEqual(expected);
    expect(readPools(responseWith(poolWith('0'), poolWith(orders(ORDER))))).toEqual(expected);
    const twice = responseWith(poolWith(orders(ORDER))).replace(
      '"PoolPairs"',
      `"PoolPairs":{${other},"x":0},"PoolPairs"`,
    );
    expect(readPools(twice)).toEqual(expected);
    const book = poolWith(`${orders(ORDER, ORDER)},"Orderbook":{"orders":[{}],"\\u006frders":${print([ORDER])}}`);
    expect(readPools(responseWith(book))).toEqual(expected);
  });

  test.each([
    ['before its orders', `{"a":[1,{}],"orders":${print([ORDER])}}`],
    ['behind its orders', `{"orders":${print([ORDER])},"a":[]}`],
    ['in another member', `${orders(ORDER)},"Other":{"orders":[[]]},"Another":[[]]`],
    ['deeper', `{"a":{"orders":[1]},"orders":${print([ORDER])}}`],
    ['in an order', orders({ ...ORDER, Receiver: [[[1], {}], 'a[]{}",'] })],
  ])('may have lists %s', (_, book) => {
    for (const size of [1, 1_000]) {
      const { value } = outcomeOfChunks(responseWith(poolWith(book)), [size], poolsResponse()) as {
        readonly value: ReturnType<typeof readPools>;
      };
      expect(value.v3.orders).toEqual([[READ_ORDER]]);
    }
  });

  test('may have null instead of an empty list of orders', () => {
    expect(readPools(responseWith(poolWith('{"orders":null}')))).toEqual(readPools(responseWith(poolWith('{}'))));
  });

  test('may have 5,000 orders in one pool', () => {
    const many = Array.from({ length: 5_000 }, (_, n) => ({ ...ORDER, Id: `${n}`, Token0Balance: n }));
    const text = responseWith(poolWith(orders(...many)), poolWith('{}', {}, ID.replace(HASH, 'ac'.repeat(32))));
    expect(outcomeOfChunks(text, [1_000, 7], poolsResponse())).toMatchObject({
      value: { v3: { orders: [many.map((_, n) => ({ ...READ_ORDER, id: `${n}`, balance1: BigInt(n) })), []] } },
    });
  });

  test('may have pools of any amplifier, which anybody can create', () => {
    const state = { Amplifier: 2n ** 64n - 1n, Token0VirtualAmount: 2n ** 147n, Token1VirtualAmount: 2n ** 256n - 1n };
    expect(toRows(readPools(responseWith(poolWith('{}', state)))).pools).toMatchObject([
      { amplifier: 2 ** 64, virtual1: 2n ** 147n, virtual2: 2n ** 256n - 1n },
    ]);
  });

  test('has pools whose keys and token ids are of either case', () => {
    const text = responseWith(poolWith('{}', { Token1ID: BTC.toUpperCase() }, ID.toUpperCase()));
    expect(readPools(text).directory.ids).toEqual([ID]);
  });

  test('that is too large is refused', () => {
    const text = responseWith(poolWith(`{"orders":[${'0,'.repeat(200_000)}0]}`));
    expect(() => withoutStackTraces(() => readPools(text))).toThrow(TooLargeError);
    const pools = Array.from({ length: 20_001 }, (_, n) => `"${n}":0`);
    expect(() => withoutStackTraces(() => readPools(responseWith(...pools)))).toThrow(TooLargeError);
  });
});

describe('what is not a pool of V3 is refused', () => {
  const digits = '9'.repeat(300);
  const amounts = ['Token0RealAmount', 'Token1RealAmount', 'ShareAmount', 'Amplifier'];
  const virtual = ['Token0VirtualAmount', 'Token1VirtualAmount'];
  const garbage = ['null', '"1"', '-1', '1.5', '1e3000', digits, 'true', '[]', '{}'];
  const state = (name: string, value: string) =>
    poolWith('{}').replace(new RegExp(`"${name}":\\d+`), `"${name}":${value}`);
  const order = (name: string, value: string) =>
    withOrder({}).replace(new RegExp(`"${name}":\\d+`), `"${name}":${value}`);

  test.each<readonly [string, string]>([
    ...[...amounts, ...virtual].flatMap((name) =>
      garbage.map((value) => [`${name} ${value.slice(0, 8)}`, state(name, value)] as const),
    ),
    ...amounts.map((name) => [`${name} of 65 bits`, state(name, `${2n ** 64n}`)] as const),
    ...['Token0Rate', 'Token1Rate', 'Token0Balance', 'Token1Balance', 'TradeDirection'].flatMap((name) =>
      [...garbage, `${2n ** 64n}`].map((value) => [`${name} ${value.slice(0, 8)}`, order(name, value)] as const),
    ),
    ['a pool without a state', `"${ID}":{"Orderbook":{}}`],
    ['a state that is null', `"${ID}":{"State":null,"Orderbook":{}}`],
    ['a pool that is null', `"${ID}":null`],
    ['a pool that is a list', `"${ID}":[]`],
    ['a pool without an order book', `"${ID}":{"State":${print(STATE)}}`],
    ['an order book that is null', poolWith('null')],
    ['an order book that is a list', poolWith(`[${print([ORDER])}]`)],
    ['orders in an object', poolWith(`{"orders":{"1":${print([ORDER])}}}`)],
    ['an order that is null', poolWith('{"orders":[null]}')],
    ['an order that is a list', poolWith(`{"orders":[${print([ORDER])}]}`)],
    ['an order without rates', withOrder({ Token0Rate: undefined })],
    ['an order with a rate of 0', withOrder({ Token1Rate: 0 })],
    ['an order without an id', withOrder({ Id: undefined })],
    ['an order of a third side', withOrder({ TradeDirection: 2 })],
    ['a pool without an amount', poolWith('{}', { ShareAmount: undefined })],
    ['token ids in the wrong order', poolWith('{}', { Token0ID: BTC, Token1ID: PRV })],
    ['a token id that is too short', poolWith('{}', { Token0ID: '04' })],
    ['a key of other tokens', poolWith('{}', {}, `${BTC}-${PRV}-${HASH}`)],
    ['a key without a hash', poolWith('{}', {}, `${PRV}-${BTC}`)],
    ['a key with more', poolWith('{}', {}, `${ID}-1`)],
  ])('%s', (_, pool) => {
    expect(() => readPools(responseWith(pool))).toThrow(ShapeError);
    const second = poolWith('{}', {}, ID.replace(HASH, 'ff'.repeat(32)));
    expect(() => readPools(responseWith(pool, second))).toThrow(ShapeError);
  });

  test.each([
    ['a bare list', '{"Id":1,"Result":["a"],"Error":null}'],
    ['a result that is null', '{"Id":1,"Result":null,"Error":null}'],
    ['no result', '{"Id":1,"Error":null}'],
    ['the response to another request', responseWith().replace('1', '2')],
    ['pools that are null', '{"Id":1,"Result":{"PoolPairs":null}}'],
    ['pools in a list', '{"Id":1,"Result":{"PoolPairs":[1]}}'],
    ['no pools', '{"Id":1,"Result":{"BeaconTimeStamp":1}}'],
  ])('%s', (_, text) => {
    for (const size of [1, 1_000])
      expect(outcomeOfChunks(text, [size], poolsResponse())).toEqual({ error: expect.any(ShapeError) });
  });

  test.each(['["a"', '{"Id":1,"Result":{"PoolPairs":{"a":{"State":{}]}}}', responseWith(poolWith('{"orders":[1,]}'))])(
    'what is not JSON: %s',
    (text) => {
      expect(outcomeOfChunks(text, [3], poolsResponse())).toBe('it is not JSON');
    },
  );
});

describe('the orders of a pool that have not changed are the same list as at the height before', () => {
  const second = ID.replace(HASH, 'ac'.repeat(32));
  const textOf = (balance: number) =>
    responseWith(withOrder({}), poolWith(orders({ ...ORDER, Token0Balance: balance }), {}, second));
  const read = (reader: PoolsV3Reader, balance: number, options = {}) =>
    readPools(textOf(balance), reader, options).v3.orders ?? [];

  test('and only these', () => {
    const reader = newPoolsReader();
    const before = read(reader, 1);
    const after = read(reader, 2);
    expect(after.map((list, place) => list === before[place])).toEqual([true, false]);
    expect(after[1]).toEqual([{ ...READ_ORDER, balance1: 2n }]);
    expect(read(reader, 2)[1]).toBe(after[1]);
  });

  test('also after a state at an earlier height was read, and after one without orders', () => {
    const reader = newPoolsReader();
    const before = read(reader, 1);
    read(reader, 2, { isNewest: false, height: 7 });
    expect(read(reader, 1, { hasOrders: false })).toEqual([]);
    expect(read(reader, 1)[1]).toBe(before[1]);
  });
});

describe('the orders of one pool', () => {
  const [poolId = ''] = Object.keys(
    (parseJson(readFixture('node/v3/pool-pair-orders')) as { readonly Result: { readonly PoolPairs: object } }).Result
      .PoolPairs,
  );
  const readOrders = (text: string, id = poolId, size = 1_000) =>
    outcomeOfChunks(text, [size], newPoolsReader().readOrders(id, resultOf));

  test.each([1, 5, 10_000])('are those of the state with all pools, in chunks of %i bytes', (size) => {
    const { directory, v3 } = readPools(POOLS_V3);
    const orders = v3.orders?.[directory.ids.indexOf(poolId)];
    expect(orders).toHaveLength(7);
    const value = { time: 1_658_721_643_000, orders };
    expect(readOrders(readFixture('node/v3/pool-pair-orders'), poolId, size)).toEqual({ value });
  });

  test('of a pool without orders, or one that the node does not have, are none', () => {
    const text = readFixture('node/v3/pool-pair-orders.unknown-pool');
    const unknown = poolId.replace(/[^-]*$/, `${'0'.repeat(63)}1`);
    expect(readOrders(text, unknown)).toEqual({ value: { time: 1_658_721_643_000, orders: [] } });
  });

  test.each([
    ['another pool', responseWith(poolWith('{}'))],
    ['no pool', responseWith()],
    ['no order book', `{"Id":1,"Result":{"PoolPairs":{"${poolId}":{"Orderbook":null}}}}`],
    ['a list', '{"Id":1,"Result":[]}'],
  ])('are refused with %s', (_, text) => {
    expect(readOrders(text)).toEqual({ error: expect.any(ShapeError) });
  });
});
