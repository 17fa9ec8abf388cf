import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, startGatewayForTest } from '../support/gateway.ts';

const PRICES = '{ price exactPrice inversePrice token1 { tokenId } }';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

type Row = {
  readonly tickerId: string;
  readonly baseId: string;
  readonly poolPrice: number | null;
  readonly exactPoolPrice: string | null;
  readonly ticker: { readonly poolPrice: number | null; readonly lastPrice: number | null };
  readonly poolPair: {
    readonly price: number | null;
    readonly exactPrice: string | null;
    readonly inversePrice: number | null;
    readonly token1: { readonly tokenId: string };
  } | null;
};

async function rows(): Promise<readonly Row[]> {
  const { data, errors } = await gateway.ask(
    `{ pairs { tickerId baseId poolPrice exactPoolPrice ticker { poolPrice lastPrice } poolPair ${PRICES} } }`,
  );
  expect(errors).toBeUndefined();
  return data.pairs;
}

describe('Pair.poolPrice', () => {
  test('is target per base, whichever token of the pool is the base, and the same for the ticker', async () => {
    const priced = (await rows()).filter(({ poolPair }) => poolPair?.price != null);
    const isFirst = ({ baseId, poolPair }: Row) => poolPair?.token1.tokenId === baseId;
    expect([priced.filter(isFirst).length, priced.filter((row) => !isFirst(row)).length]).toEqual([
      expect.toSatisfy((count: number) => count > 3),
      expect.toSatisfy((count: number) => count > 3),
    ]);
    for (const row of priced) {
      const { poolPrice, exactPoolPrice, ticker, poolPair } = row;
      expect(poolPrice).toBe(isFirst(row) ? poolPair?.inversePrice : poolPair?.price);
      expect(ticker.poolPrice).toBe(poolPrice);
      if (isFirst(row)) expect(Math.abs(Number(exactPoolPrice) / (poolPrice ?? 0) - 1)).toBeLessThan(1e-6);
      else expect(exactPoolPrice).toBe(poolPair?.exactPrice);
    }
  });

  test('is near the price of the last trade, which the inverse would not be', async () => {
    const { data } = await gateway.ask('{ tickers { tickerId poolPrice lastPrice } }');
    const near = data.tickers.filter(
      ({ poolPrice, lastPrice }: { poolPrice: number; lastPrice: number }) =>
        poolPrice !== null && lastPrice > 0 && Math.abs(Math.log10(poolPrice / lastPrice)) < 0.5,
    );
    expect(near.length).toBeGreaterThan(20);
  });

  test('is null without a pool, for an empty side and with unknown decimals', async () => {
    const unpriced = (await rows()).filter(({ poolPair }) => poolPair?.price == null);
    expect(unpriced.some(({ poolPair }) => poolPair === null)).toBe(true);
    for (const { poolPrice, exactPoolPrice, ticker } of unpriced) {
      expect([poolPrice, exactPoolPrice, ticker.poolPrice]).toEqual([null, null, null]);
    }
    const { ask } = await startGatewayForTest({ config: { tokensFile: [] } });
    const { data } = await ask('{ pairs { poolPrice exactPoolPrice baseToken { decimals } poolPair { key } } }');
    const undescribed = data.pairs.filter(
      ({ baseToken, poolPair }: { baseToken: { decimals: number | null }; poolPair: object | null }) =>
        poolPair !== null && baseToken.decimals === null,
    );
    expect(undescribed.length).toBeGreaterThan(5);
    for (const pair of undescribed) expect(pair).toMatchObject({ poolPrice: null, exactPoolPrice: null });
  });

  test('is an error of its own field if the state was never read', async () => {
    const { ask } = await startGatewayForTest({
      before: ({ node }) => {
        node.faults.set({ kind: 'reset' });
      },
    });
    const { data, errors } = await ask('{ ticker(tickerId: "pBTC_PRV") { tickerId baseToken { symbol } poolPrice } }');
    expect(data.ticker).toEqual({ tickerId: 'pBTC_PRV', baseToken: { symbol: 'BTC' }, poolPrice: null });
    expect(errors?.map(({ path }) => path)).toEqual([['ticker', 'poolPrice']]);
  });
});

test('a ticker has its two tokens', async () => {
  const fields = 'baseToken { id symbol decimals } targetToken { id symbol decimals }';
  const { data } = await gateway.ask(`{ tickers { ${fields} pair { ${fields} } } }`);
  expect(data.tickers.length).toBeGreaterThan(20);
  for (const { pair, ...tokens } of data.tickers) expect(tokens).toEqual(pair);
});

test('a price from a pool has the complexity of the pool', async () => {
  const { ask } = await startGatewayForTest({ config: { maxComplexity: 160 } });
  const codes = async (fields: string) =>
    (await ask(`{ pair(tickerId: "pBTC_PRV") { ${fields} } }`)).errors?.map(({ extensions }) => extensions.code);
  const aliases = (field: string) => Array.from({ length: 200 }, (_, n) => `a${n}: ${field}`).join(' ');
  expect(await codes(aliases('tickerId'))).toBeUndefined();
  expect(await codes(aliases('poolPrice'))).toEqual(['QUERY_TOO_COMPLEX']);
});
