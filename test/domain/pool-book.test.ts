import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toDecimal, toSignificantDecimal } from '../../src/domain/amount.ts';
import { addExact, compareExact, formatExactDecimal, parseExactDecimal } from '../../src/domain/exact-decimal.ts';
import { exactPrice, exactQuantity, isCrossed } from '../../src/domain/order-book.ts';
import { orderPrice, type PoolBook, toPoolBook } from '../../src/domain/pool-book.ts';
import { type PoolOrder, toSellingOrders } from '../../src/domain/pool-order.ts';
import { anyOrders, orderOf, readSamplePools } from './pool-orders.ts';
import { anyDecimals, MAX_RESERVE } from './pools.ts';

const samples = readSamplePools();

function bookOf(orders: readonly PoolOrder[], decimals1: number, decimals2: number, base: 1 | 2 = 2): PoolBook {
  return toPoolBook(toSellingOrders(orders), { base, decimals1, decimals2 });
}

/** The exact price and quantity of each entry. */
function linesOf({ bids, asks }: PoolBook) {
  const lines = (side: PoolBook['bids']) => side.map((entry) => [exactPrice(entry), exactQuantity(entry)]);
  return { bids: lines(bids), asks: lines(asks) };
}

describe('the book of a pool', () => {
  test('is that of PRV and BTC in the sample, without the spent order that would cross it', () => {
    const orders = samples.get('6cb4')?.v3?.orders ?? [];
    const book = bookOf(orders, 9, 6);
    expect(linesOf(book)).toEqual({
      bids: [
        ['67.09066', '0.098507'],
        ['55.5586867', '0.5'],
        ['0.00000000001', '1000'],
      ],
      asks: [
        ['75', '0.15'],
        ['88', '0.15'],
        ['999.99975', '0.000004'],
      ],
    });
    expect(isCrossed(book)).toBe(false);
  });

  test('is that of PRV and USDT in the sample', () => {
    const book = bookOf(samples.get('1633')?.v3?.orders ?? [], 9, 6);
    expect(linesOf(book)).toEqual({
      bids: [
        ['3.57142857142857143', '1400'],
        ['3.44827586206896552', '2355.802468'],
        ['0.1', '1000'],
      ],
      asks: [
        ['3.72439478584729981', '268.5'],
        ['3.77358490566037736', '5300'],
        ['3.84615384615384615', '650'],
        ['3703703.703', '0.000001'],
      ],
    });
    expect(isCrossed(book)).toBe(false);
  });

  test('has the totals of each entry and of all better ones', () => {
    const orders = [orderOf('a', 2, [2n, 1n], [0n, 3n]), orderOf('b', 2, [5n, 1n], [0n, 4n])];
    expect(bookOf(orders, 0, 0).asks).toEqual([
      { price: 2, priceText: '2', quantity: 3, quantityText: '3', cumulativeQuantity: 3, cumulativeTotal: 6 },
      { price: 5, priceText: '5', quantity: 4, quantityText: '4', cumulativeQuantity: 7, cumulativeTotal: 26 },
    ]);
  });

  test('merges orders whose prices are the same, also if their rates are not', () => {
    const orders = [
      orderOf('a', 1, [3n, 2n], [30n, 0n]),
      orderOf('b', 1, [6n, 4n], [7n, 0n]),
      // The same in the first 18 digits.
      orderOf('c', 1, [3n * 10n ** 18n + 1n, 2n * 10n ** 18n], [9n, 0n]),
      orderOf('d', 1, [2n, 1n], [1n, 0n]),
    ];
    // 1 / 2 of a unit of token 2 is none: nobody can match the last one.
    expect(linesOf(bookOf(orders, 0, 0)).bids).toEqual([['1.5', '29']]);
  });

  test('can be crossed, and is not where the best prices are the same', () => {
    const crossed = [orderOf('a', 1, [3n, 1n], [3n, 0n]), orderOf('b', 2, [2n, 1n], [0n, 1n])];
    expect(linesOf(bookOf(crossed, 0, 0))).toEqual({ bids: [['3', '1']], asks: [['2', '1']] });
    expect(isCrossed(bookOf(crossed, 0, 0))).toBe(true);
    expect(isCrossed(bookOf(crossed, 0, 0, 1))).toBe(true);
    const equal = [orderOf('a', 1, [2n, 1n], [2n, 0n]), orderOf('b', 2, [2n, 1n], [0n, 1n])];
    expect(isCrossed(bookOf(equal, 0, 0))).toBe(false);
    expect(isCrossed(bookOf([], 0, 0))).toBe(false);
    expect(isCrossed(bookOf(crossed.slice(1), 0, 0))).toBe(false);
    // One unit of the 18th digit apart: the same double.
    const near = [
      orderOf('a', 1, [10n ** 17n + 1n, 10n ** 17n], [10n ** 18n, 0n]),
      orderOf('b', 2, [1n, 1n], [0n, 1n]),
    ];
    expect(isCrossed(bookOf(near, 0, 0))).toBe(true);
  });

  test('is exact at the largest rates and balances', () => {
    const orders = [
      orderOf('a', 2, [1n, MAX_RESERVE], [0n, MAX_RESERVE]),
      orderOf('b', 2, [MAX_RESERVE, MAX_RESERVE], [0n, MAX_RESERVE]),
      orderOf('c', 2, [MAX_RESERVE, MAX_RESERVE - 1n], [0n, 1n]),
      orderOf('d', 1, [MAX_RESERVE, 1n], [MAX_RESERVE, 0n]),
    ];
    expect(linesOf(bookOf(orders, 0, 30))).toEqual({
      bids: [['18446744073709551600000000000000000000000000000000', '0.000000000000000000000000000001']],
      asks: [
        ['54210108624.2752217', '0.000000000018446744073709551615'],
        ['1000000000000000000000000000000', '0.000000000018446744073709551616'],
      ],
    });
  });

  test('has the entries that are needed, whatever is not', () => {
    const sides = toSellingOrders(samples.get('6cb4')?.v3?.orders ?? []);
    const units = { base: 2, decimals1: 9, decimals2: 6 } as const;
    const all = toPoolBook(sides, units);
    for (const maxEntries of [0, 1, 2, 3]) {
      expect(toPoolBook(sides, units, maxEntries)).toEqual({
        bids: all.bids.slice(0, maxEntries),
        asks: all.asks.slice(0, maxEntries),
      });
    }
  });

  test('is what adding one order after another comes to', () => {
    fc.assert(
      fc.property(anyOrders, anyDecimals, anyDecimals, fc.constantFrom<1 | 2>(1, 2), (orders, d1, d2, base) => {
        expect(linesOf(bookOf(orders, d1, d2, base))).toEqual({
          bids: slowSide(orders, d1, d2, base, false),
          asks: slowSide(orders, d1, d2, base, true),
        });
      }),
    );
  });
});

/** The prices and quantities of one side, without any order of the orders. */
function slowSide(orders: readonly PoolOrder[], d1: number, d2: number, base: 1 | 2, areAsks: boolean): string[][] {
  const levels = new Map<string, string>();
  for (const { sells, rate1, rate2, balance1, balance2 } of orders) {
    if ((sells === base) !== areAsks) continue;
    const worth = sells === 1 ? (balance1 * rate2) / rate1 : (balance2 * rate1) / rate2;
    if (worth < 1n || worth > MAX_RESERVE) continue;
    const [whole1, whole2] = [rate1 * 10n ** BigInt(d2), rate2 * 10n ** BigInt(d1)];
    const price = base === 2 ? toSignificantDecimal(whole1, whole2, 18) : toSignificantDecimal(whole2, whole1, 18);
    const left = sells === 1 ? balance1 : balance2;
    const quantity = toDecimal(areAsks ? left : worth, base === 1 ? d1 : d2);
    levels.set(price, formatExactDecimal(addExact(numberOf(levels.get(price) ?? '0'), numberOf(quantity))));
  }
  const ascending = [...levels].sort(([a], [b]) => compareExact(numberOf(a), numberOf(b)));
  return areAsks ? ascending : ascending.toReversed();
}

function numberOf(text: string) {
  const number = parseExactDecimal(text);
  if (number === undefined) throw new Error(`${text} is no number`);
  return number;
}

describe('the price of an order', () => {
  test('is whole token 1 for one whole token 2, with up to 18 digits', () => {
    expect(orderPrice(orderOf('a', 1, [3_700_000_000_000n, 962_000_000n], [1n, 1n]), 9, 6)).toBe('3.84615384615384615');
    expect(orderPrice(orderOf('a', 1, [10n, 1_000_000_000n], [0n, 0n]), 9, 6)).toBe('0.00000000001');
  });
});
