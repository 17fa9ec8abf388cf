import { describe, expect, test } from 'vitest';
import type { ExchangeState } from '../../../src/domain/exchange.ts';
import { type BlockTrades, mismatches } from '../../../src/domain/trade.ts';
import { instructionsOf } from '../../../src/sandbox/v3/instructions.ts';
import { volumesOf } from '../../../src/sandbox/v3/trades.ts';
import { readBlockTrades } from '../../../src/upstream/node/beacon-block.ts';
import { fixedSandbox, rpcText } from '../../sandbox/support.ts';
import { readFixture } from '../fixture.ts';
import { HEIGHT_V3, POOLS_V3, readPools } from './pools-v3.ts';

const { Instructions: RECORDED } = JSON.parse(readFixture('node/v3/beacon-block')).Result[0];
const NEXT = readFixture('node/v3/pool-pairs.verbosity-4.next-height').trim();

/** The state with parameters, which say nothing about amounts. */
function stateOf(text: string, height: number): ExchangeState {
  const pools = readPools(text, undefined, { height });
  return { ...pools, v3: { ...pools.v3, params: {} as NonNullable<ExchangeState['v3']>['params'] } };
}

const POOL = `${'a'.repeat(64)}-${'b'.repeat(64)}-${'c'.repeat(64)}`;
const OTHER_POOL = `${'b'.repeat(64)}-${'d'.repeat(64)}-${'c'.repeat(64)}`;
const TRANSACTION = '1'.repeat(64);

/** An accepted trade. */
function accepted(content: object, transaction: unknown = TRANSACTION): unknown[] {
  const usual = { Amount: 9, TradePath: [POOL], PairChanges: [[10, -9]], OrderChanges: [{}] };
  return ['285', '1', '3', transaction, JSON.stringify({ Content: { ...usual, ...content } })];
}

const NOTHING: BlockTrades = { trades: [], isComplete: true, poolsWithLiquidityChanges: new Set() };
const UNKNOWN: BlockTrades = { ...NOTHING, isComplete: false };

describe('the trades of a block', () => {
  test('are the volumes of each pool of the accepted trades, of curve and orders together', async () => {
    const { trades, isComplete } = await readBlockTrades(RECORDED);
    expect(isComplete).toBe(true);
    expect(
      trades.map(({ poolId, transactionId, step, steps, ...amounts }) => [
        `${transactionId.slice(0, 4)} ${step + 1}/${steps} ${poolId.slice(-4)}`,
        ...Object.values(amounts).map(String),
      ]),
    ).toEqual([
      ['2bc8 1/2 6cb4', '1', '2000000000000', '32126500', '0', '0'],
      ['2bc8 2/2 169f', '2', '32126500', '536014292', '8815952', '146932533'],
      ['e59a 1/2 169f', '2', '30090910', '501055829', '9184048', '153067467'],
      ['e59a 2/2 0b6d', '1', '499544646', '404450708', '0', '0'],
      ['1ea8 1/1 1633', '2', '900000000', '3350700924202', '0', '0'],
      ['5cc6 1/1 1633', '1', '2500000000000', '671641878', '63213205941', '16972745'],
    ]);
  });

  test('and the state before are the state after, for the recorded block', async () => {
    const [before, after] = [stateOf(POOLS_V3, HEIGHT_V3), stateOf(NEXT, HEIGHT_V3 + 1)];
    const block = await readBlockTrades(RECORDED);
    expect(mismatches(before, after, block)).toEqual([]);

    const traded = [...new Set(block.trades.map(({ poolId }) => poolId))].sort();
    expect(mismatches(before, after, NOTHING)).toEqual(traded);
    expect(mismatches(before, after, UNKNOWN)).toEqual([]);
    expect(mismatches(before, after, { ...NOTHING, poolsWithLiquidityChanges: new Set(traded.slice(1)) })).toEqual(
      traded.slice(0, 1),
    );
    // The first pool is new, and the last one of the earlier state is another one.
    const { ids } = before.directory;
    expect(mismatches({ ...before, directory: { ...before.directory, ids: ids.with(0, '0') } }, after, block)).toEqual(
      [],
    );
  });

  test('and the state before are the state after, in the sandbox', async () => {
    await using sandbox = await fixedSandbox({ exchange: 'v3', history: 70 });
    const { chain, nodeUrl } = sandbox;
    const readState = async (height: number) => {
      const filter = { Key: 'PoolPairs', Verbosity: 4, ID: '' };
      return stateOf(await rpcText(nodeUrl, 'pdexv3_getState', [{ BeaconHeight: height, Filter: filter }]), height);
    };
    let before = await readState(chain.oldestHeight);
    let trades = 0;
    for (let height = chain.oldestHeight + 1; height <= chain.tip.height; height++) {
      const block = chain.block(height);
      if (!block?.v3) throw new Error('no exchange');
      const read = await readBlockTrades(instructionsOf(chain.seed, block, block.v3));
      const after = await readState(height);
      expect(mismatches(before, after, read)).toEqual([]);
      expect(read.trades.map(({ poolId, sellAmount, buyAmount }) => [poolId, sellAmount, buyAmount])).toEqual(
        block.v3.events
          .flatMap((event) => (event.kind === 'trade' ? volumesOf(event.trade) : []))
          .map(({ poolId, paid, got }) => [poolId, paid, got]),
      );
      trades += read.trades.length;
      before = after;
    }
    expect(trades).toBeGreaterThan(100);
  });

  test.each<[string, unknown[]]>([
    ['refused trades', ['285', '0', '3', TRANSACTION, '{']],
    ['words in place of numbers', ['acceptblockrewardv3', '1', '0', '{}', '1']],
    ['other types', ['91', '1', 'accepted', '{"Content": 1}']],
    ['an instruction without strings', [285, 1, null, {}]],
    ['an empty instruction', []],
  ])('are without %s', async (_, instruction) => {
    expect(await readBlockTrades([instruction, 'x', null])).toEqual(NOTHING);
  });

  test('have amounts beyond 64 bits, exactly', async () => {
    const big = '-36893488147419103232';
    const text = `{"Content":{"Amount":18446744073709551615,"TradePath":["${POOL}"],"PairChanges":[[10,${big}]],"OrderChanges":[{"x":[0,18446744073709551617]}]}}`;
    // An order does not give what it buys.
    expect(await readBlockTrades([['285', '1', '0', TRANSACTION, text]])).toEqual(UNKNOWN);
    const withoutOrders = text.replace('{"x":[0,18446744073709551617]}', '{}').replace(big, '-18446744073709551615');
    expect((await readBlockTrades([['285', '1', '0', TRANSACTION, withoutOrders]])).trades).toMatchObject([
      { sellAmount: 10n, buyAmount: 2n ** 64n - 1n },
    ]);
  });

  test.each<[string, unknown[]]>([
    ['no JSON', ['285', '1', '3', TRANSACTION, '{']],
    ['no content', ['285', '1', '3', TRANSACTION]],
    ['a transaction that is no hash', accepted({}, 'x')],
    ['a path that is no list', accepted({ TradePath: POOL })],
    ['an empty path', accepted({ TradePath: [], PairChanges: [], OrderChanges: [] })],
    [
      'a path of six pools',
      accepted({
        TradePath: Array(6).fill(POOL),
        PairChanges: Array(6).fill([10, -9]),
        OrderChanges: Array(6).fill({}),
      }),
    ],
    ['a pool that has no id of V3', accepted({ TradePath: ['x'] })],
    ['fewer changes than pools', accepted({ TradePath: [POOL, OTHER_POOL] })],
    ['changes of one token', accepted({ PairChanges: [[10]] })],
    ['changes of three tokens', accepted({ PairChanges: [[10, -9, 1]] })],
    ['a fraction', accepted({ PairChanges: [[10.5, -9]] })],
    ['a text in place of a number', accepted({ PairChanges: [['10', -9]] })],
    ['a number without end', accepted({ PairChanges: [[10n ** 30n, -9]].map(([a, b]) => [Number(a), b]) })],
    ['both tokens in', accepted({ PairChanges: [[10, 9]] })],
    ['nothing out', accepted({ Amount: 0, PairChanges: [[10, 0]] })],
    ['another amount than the last pool gives', accepted({ Amount: 8 })],
    ['orders that take the token that goes out', accepted({ PairChanges: [[10, -10]], OrderChanges: [{ x: [0, 1] }] })],
    ['orders that are no object', accepted({ OrderChanges: [null] })],
  ])('are unknown with an accepted trade that has %s', async (_, instruction) => {
    expect(await readBlockTrades([accepted({}), instruction])).toEqual(UNKNOWN);
  });

  test('name the pools whose liquidity was changed', async () => {
    const withPool = (type: string, status: string) => [
      type,
      status,
      JSON.stringify({ deep: { PoolPairID: POOL.toUpperCase() } }),
    ];
    for (const instruction of [
      withPool('281', 'matched'),
      withPool('281', 'matchedNReturned'),
      withPool('283', 'accepted'),
    ])
      expect(await readBlockTrades([instruction])).toEqual({ ...NOTHING, poolsWithLiquidityChanges: new Set([POOL]) });
    expect(await readBlockTrades([withPool('287', '1')])).toEqual(NOTHING);
    const noText = JSON.parse(`["281", {"toString": 1, "valueOf": 1}, null, "${POOL}"]`);
    expect(await readBlockTrades([noText])).toEqual({ ...NOTHING, poolsWithLiquidityChanges: new Set([POOL]) });
  });
});
