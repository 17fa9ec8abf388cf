import { expect, test } from 'vitest';
import { parseJson } from '../../../src/upstream/json.ts';
import { readParams } from '../../../src/upstream/node/decode-v3.ts';
import { ShapeError, type WireObject } from '../../../src/upstream/wire.ts';
import { readFixture } from '../fixture.ts';
import { resultOf } from './pools-v3.ts';

const RESULT = resultOf(parseJson(readFixture('node/v3/params.at-launch')));

const POOL = `${'0'.repeat(63)}4-${'ab'.repeat(32)}-${'cd'.repeat(32)}`;

const paramsWith = (params: object) => readParams({ Params: { ...(RESULT['Params'] as WireObject), ...params } });

test('the parameters at the start of the main network are read', () => {
  expect(readParams(RESULT)).toEqual({
    defaultFeeRateBps: 25,
    feeRatesBps: new Map(),
    nativeFeeDiscountPercent: 50,
    maxOrdersPerNft: 10,
    minNativeReserve: 10_000_000_000_000n,
  });
});

test('pools have rates of their own, with ids in either case; no map is an empty one', () => {
  expect(paramsWith({ FeeRateBPS: { [POOL.toUpperCase()]: 0, __proto__: null } }).feeRatesBps).toEqual(
    new Map([[POOL, 0]]),
  );
  expect(paramsWith({ FeeRateBPS: null }).feeRatesBps).toEqual(new Map());
  expect(paramsWith({ MinPRVReserveTradingRate: 2n ** 64n - 1n }).minNativeReserve).toBe(2n ** 64n - 1n);
});

test.each<[string, unknown]>([
  ['DefaultFeeRateBPS', undefined],
  ['DefaultFeeRateBPS', null],
  ['DefaultFeeRateBPS', '25'],
  ['DefaultFeeRateBPS', 2.5],
  ['DefaultFeeRateBPS', -1],
  ['DefaultFeeRateBPS', 10_001],
  ['FeeRateBPS', undefined],
  ['FeeRateBPS', []],
  ['FeeRateBPS', { [POOL]: null }],
  ['FeeRateBPS', { [POOL]: 1e300 }],
  ['PRVDiscountPercent', 100],
  ['MaxOrdersPerNft', 2 ** 31],
  ['MinPRVReserveTradingRate', 2n ** 64n],
  ['MinPRVReserveTradingRate', undefined],
])('%s that is %s is refused', (name, value) => {
  expect(() => paramsWith({ [name]: value })).toThrow(ShapeError);
});

test.each([undefined, null, [], 'x'])('parameters that are %j are refused', (params) => {
  expect(() => readParams({ Params: params })).toThrow(ShapeError);
});
