import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  comparePositions,
  cutPage,
  type Page,
  type PoolPairOrder,
  type PoolPairPosition,
  positionOf,
} from '../../src/domain/page.ts';
import type { PoolPair } from '../../src/domain/pool-pair.ts';
import { NATIVE_TOKEN_ID } from '../../src/domain/token.ts';
import { anyPools, exchangeStateOf, listPools, poolOf, tokenId } from './pools.ts';

const anyOrder = fc.constantFrom<PoolPairOrder[]>('ID_ASC', 'ID_DESC', 'NATIVE_LIQUIDITY_DESC', 'NON_EMPTY_FIRST');
const anySize = fc.integer({ min: 1, max: 7 });

const listOf = (pools: readonly PoolPair[], order: PoolPairOrder) =>
  listPools(exchangeStateOf(1_000, pools), {}, order);

function positionOfEdge(page: Page<PoolPair>, edge: 0 | -1): PoolPairPosition | undefined {
  const pool = page.items.at(edge);
  return pool && positionOf(pool);
}

describe('paging through a list', () => {
  test('forward, with first and after, returns each pool once, in order, and the last page reports that it is the last', () => {
    fc.assert(
      fc.property(anyPools, anyOrder, anySize, (pools, order, size) => {
        const list = listOf(pools, order);
        const met: PoolPair[] = [];
        let page = cutPage(list, positionOf, { size, fromEnd: false }, order);
        for (;;) {
          expect(page.totalCount).toBe(list.length);
          expect(page.hasPreviousPage).toBe(met.length > 0);
          met.push(...page.items);
          expect(page.hasNextPage).toBe(met.length < list.length);
          if (!page.hasNextPage) break;
          expect(page.items.length).toBe(size);
          page = cutPage(list, positionOf, { size, fromEnd: false, after: positionOfEdge(page, -1) }, order);
        }
        expect(met).toEqual(list);
      }),
    );
  });

  test('backward, with last and before, returns each pool once, in order, and the first page reports that it is the first', () => {
    fc.assert(
      fc.property(anyPools, anyOrder, anySize, (pools, order, size) => {
        const list = listOf(pools, order);
        const met: PoolPair[] = [];
        let page = cutPage(list, positionOf, { size, fromEnd: true }, order);
        for (;;) {
          expect(page.totalCount).toBe(list.length);
          expect(page.hasNextPage).toBe(met.length > 0);
          met.unshift(...page.items);
          expect(page.hasPreviousPage).toBe(met.length < list.length);
          if (!page.hasPreviousPage) break;
          expect(page.items.length).toBe(size);
          page = cutPage(list, positionOf, { size, fromEnd: true, before: positionOfEdge(page, 0) }, order);
        }
        expect(met).toEqual(list);
      }),
    );
  });

  test('skips and repeats nothing, also if the pool of a cursor or its reserves are gone', () => {
    fc.assert(
      fc.property(anyPools, anyOrder, anySize, fc.boolean(), (pools, order, size, fromEnd) => {
        const list = listOf(pools, order);
        const first = cutPage(list, positionOf, { size, fromEnd }, order);
        const edge = fromEnd ? first.items[0] : first.items.at(-1);
        fc.pre(edge !== undefined);

        const left = list.filter((pool) => pool !== edge);
        const position = positionOf(edge);
        const rest = cutPage(left, positionOf, { size: 100, fromEnd, [fromEnd ? 'before' : 'after']: position }, order);
        expect(rest.items).toEqual(left.filter((pool) => !first.items.includes(pool)));
      }),
    );
  });
});

describe('a page', () => {
  const list = ['1', '2', '3', '4', '5'].map((end) =>
    poolOf(1n, 1n, { token2Id: tokenId(end), token1Id: tokenId('') }),
  );
  const at = (end: string): PoolPairPosition => ({
    id: `${tokenId('')}-${tokenId(end)}`,
    nativeLiquidity: undefined,
    isEmpty: false,
  });
  const [p1, p2, p3, p4, p5] = list;
  const page = (items: unknown[], hasPreviousPage: boolean, hasNextPage: boolean) => ({
    items,
    totalCount: 5,
    hasPreviousPage,
    hasNextPage,
  });

  test.each([
    ['the first two', { size: 2, fromEnd: false }, page([p1, p2], false, true)],
    ['the last two', { size: 2, fromEnd: true }, page([p4, p5], true, false)],
    ['two behind the second', { size: 2, fromEnd: false, after: at('2') }, page([p3, p4], true, true)],
    ['two before the fourth', { size: 2, fromEnd: true, before: at('4') }, page([p2, p3], true, true)],
    ['more than there are', { size: 9, fromEnd: false }, page([p1, p2, p3, p4, p5], false, false)],
    ['none behind the last', { size: 2, fromEnd: false, after: at('5') }, page([], true, false)],
    ['none before the first', { size: 2, fromEnd: true, before: at('1') }, page([], false, true)],
    [
      'from the start, between two',
      { size: 9, fromEnd: false, after: at('1'), before: at('5') },
      page([p2, p3, p4], true, true),
    ],
    ['from the end, between two', { size: 1, fromEnd: true, after: at('1'), before: at('5') }, page([p4], true, true)],
    [
      'none between two that are the wrong way round',
      { size: 9, fromEnd: false, after: at('4'), before: at('2') },
      page([], true, true),
    ],
    ['behind a place where no pool is', { size: 1, fromEnd: false, after: at('2f') }, page([], true, false)],
    ['before a place where no pool is', { size: 1, fromEnd: true, before: at('0') }, page([], false, true)],
  ])('%s', (_, request, expected) => {
    expect(cutPage(list, positionOf, request, 'ID_ASC')).toEqual(expected);
  });

  test('of an empty list is empty', () => {
    const empty = { items: [], totalCount: 0, hasPreviousPage: false, hasNextPage: false };
    expect(cutPage([], positionOf, { size: 5, fromEnd: false }, 'ID_ASC')).toEqual(empty);
    expect(cutPage([], positionOf, { size: 5, fromEnd: true, before: at('2') }, 'ID_DESC')).toEqual(empty);
  });
});

describe('the position of a pool', () => {
  test('has its id and its reserve of the native coin', () => {
    const pool = poolOf(5n, 6n, { token1Id: NATIVE_TOKEN_ID });
    expect(positionOf(pool)).toEqual({
      id: `${NATIVE_TOKEN_ID}-${tokenId('b')}`,
      nativeLiquidity: 5n,
      isEmpty: false,
    });
  });

  test('is totally ordered in every order', () => {
    fc.assert(
      fc.property(anyPools, anyOrder, (pools, order) => {
        const positions = pools.map(positionOf);
        for (const a of positions) {
          for (const b of positions) {
            expect(comparePositions(a, b, order) === 0).toBe(a === b);
            expect(comparePositions(a, b, order) < 0).toBe(comparePositions(b, a, order) > 0);
          }
        }
      }),
    );
  });
});
