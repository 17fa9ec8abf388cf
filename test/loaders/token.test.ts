import { expect, onTestFinished, test, vi } from 'vitest';
import { toPoolDirectory } from '../../src/domain/exchange.ts';
import { TokenLoader } from '../../src/loaders/token.ts';
import { tokenId } from '../domain/pools.ts';

test('tokens are looked up once for each symbol, however often a filter lists it', () => {
  const [a, b] = [tokenId('a'), tokenId('b')];
  const unread = { current: () => undefined };
  const tokens = new TokenLoader({
    sources: { tokens: { current: () => new Map([[a, { tokenId: a, symbol: 'A' }]]) } },
    market: { pairs: unread, tickers: unread },
  } as never);
  const bySymbol = new Map([['', [b]]]);
  const get = vi.spyOn(bySymbol, 'get');
  const groupBy = vi.spyOn(Map, 'groupBy').mockReturnValueOnce(bySymbol);
  onTestFinished(() => groupBy.mockRestore());
  expect([...tokens.withSymbols(Array(1_000).fill(''), toPoolDirectory([`${a}-${b}`]))]).toEqual([b]);
  expect(get).toHaveBeenCalledTimes(1);
});
