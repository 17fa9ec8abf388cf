import { expect, test } from 'vitest';
import { NO_QUOTES, quotesOf } from '../../soak/expected/price-formula.ts';

test('the formula of the soak test results in the known prices', () => {
  const sides = { reserve1: 1906314094145580n, reserve2: 171442164981n, decimals1: 9, decimals2: 9 };
  expect(quotesOf(sides)).toMatchObject({ price: 11054.80260211, exactPrice: '11054.802602110' });
});

test('a token without decimals has exact prices without a point', () => {
  expect(quotesOf({ reserve1: 1_000n, reserve2: 10n, decimals1: 0, decimals2: 0 })).toEqual({
    price: 90,
    exactPrice: '90',
    inversePrice: 0,
    spotPrice: 100,
  });
});

test('a pool with an empty side has no prices', () => {
  expect(quotesOf({ reserve1: 0n, reserve2: 10n, decimals1: 9, decimals2: 9 })).toEqual(NO_QUOTES);
});
