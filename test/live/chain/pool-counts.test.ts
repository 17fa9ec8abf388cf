import { expect, test } from 'vitest';
import type { ExchangeState } from '../../../src/domain/exchange.ts';
import { createPoolCounts, type LostPools } from '../../../src/live/chain/pool-counts.ts';
import { exchangeStateOf } from '../../domain/pools.ts';

const TOKEN = '0'.repeat(63);

function stateOf(beaconHeight: number, pools: number): ExchangeState {
  const pool = (n: number) => ({
    beaconHeight,
    token1Id: `${TOKEN}4`,
    token2Id: n.toString(16).padStart(64, 'f'),
    reserve1: 1n,
    reserve2: 1n,
  });
  return exchangeStateOf(
    beaconHeight,
    Array.from({ length: pools }, (_, n) => pool(n)),
  );
}

/** Notes states of these heights with so many pools. @returns which are whole, and what was reported */
function note(...states: readonly (readonly [height: number, pools: number])[]) {
  const lost: LostPools[] = [];
  const counts = createPoolCounts((each) => lost.push(each));
  const whole = states.map(([height, pools]) => counts.check(stateOf(height, pools)));
  return { whole, lost };
}

test('more pools at a higher height, or fewer at a lower one, are expected', () => {
  expect(note([10, 3], [11, 3], [12, 5], [9, 2], [8, 2], [9, 3], [13, 5])).toEqual({
    whole: Array(7).fill(true),
    lost: [],
  });
});

test('fewer pools than at a lower height are a loss, whichever was read first', () => {
  expect(note([10, 3], [20, 5], [15, 2], [15, 3], [15, 4], [30, 4], [30, 5])).toEqual({
    whole: [true, true, false, true, true, false, true],
    lost: [
      { height: 15, pools: 2, before: 3 },
      { height: 30, pools: 4, before: 5 },
    ],
  });
});

test('a state with lost pools does not count for higher heights', () => {
  expect(note([10, 3], [11, 0], [12, 1], [12, 3]).whole).toEqual([true, false, false, true]);
});

test('a height with lost pools that was read first is found when it is read again', () => {
  expect(note([10, 2], [9, 3], [10, 2]).whole).toEqual([true, true, false]);
});

test('no pools below a height with some are a loss, which is not reported: the exchange may have begun in between', () => {
  expect(note([9, 0], [10, 3], [9, 0], [8, 0], [8, 1])).toEqual({ whole: [true, true, false, false, true], lost: [] });
});

test('what was read of blocks that may have been replaced is forgotten, and what was read below them is not', () => {
  const lost: LostPools[] = [];
  const counts = createPoolCounts((each) => lost.push(each));
  for (const [height, pools] of [
    [8, 2],
    [10, 3],
    [11, 4],
  ] as const)
    counts.check(stateOf(height, pools));
  counts.forgetFrom(10);
  expect(
    [
      [11, 2],
      [12, 1],
    ].map(([height = 0, pools = 0]) => counts.check(stateOf(height, pools))),
  ).toEqual([true, false]);
  expect(lost).toEqual([{ height: 12, pools: 1, before: 2 }]);
});

test('a height is reported once', () => {
  expect(note([10, 3], [11, 2], [11, 2], [12, 2]).lost).toHaveLength(2);
});
