import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { figuresOf } from '../../src/sandbox/chain/tickers.ts';
import { marketSymbol } from '../../src/sandbox/chain/tokens.ts';
import { startGateway } from '../support/gateway.ts';
import { BTC, PRV } from '../support/tokens.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());

describe('pairs and tickers', () => {
  test("come in the host's order, joined with each other and with the node's pools", async () => {
    const { chain } = gateway.sandbox;
    const { data, errors } = await gateway.ask(`{
      pairs { id tickerId baseId base targetId target poolId baseToken { tokenId } targetToken { tokenId } ticker { id } poolPair { id } }
      tickers { id tickerId baseCurrency targetCurrency poolId lastPrice baseVolume targetVolume pair { id } }
    }`);
    expect(errors).toBeUndefined();
    expect(data.pairs).toEqual(
      chain.markets.map(({ tickerId, poolId, base, target, nodePool }) => ({
        id: `Pair:${poolId}`,
        tickerId,
        baseId: base.id,
        base: marketSymbol(base),
        targetId: target.id,
        target: marketSymbol(target),
        poolId,
        baseToken: { tokenId: base.id },
        targetToken: { tokenId: target.id },
        ticker: { id: `Ticker:${poolId}` },
        poolPair: nodePool === undefined ? null : { id: `PoolPair:${nodePool.token1.id}-${nodePool.token2.id}` },
      })),
    );
    const figures = figuresOf(chain);
    expect(data.tickers).toEqual(
      chain.markets.map(({ tickerId, poolId, base, target, oddity }, index) => ({
        id: `Ticker:${poolId}`,
        tickerId,
        baseCurrency: marketSymbol(base),
        targetCurrency: marketSymbol(target),
        poolId,
        ...(oddity === 'null figures' || oddity === 'absent figures'
          ? { lastPrice: null, baseVolume: null, targetVolume: null }
          : { ...figures[index], ...(oddity === 'no target volume' ? { targetVolume: 0 } : {}) }),
        pair: { id: `Pair:${poolId}` },
      })),
    );
  });

  test('a filter returns those that match every field of it, and an empty list matches none', async () => {
    const { chain } = gateway.sandbox;
    const { data } = await gateway.ask(
      `query ($poolIds: [String!]) {
        byTicker: pairs(filter: { tickerIds: ["pBTC_PRV", "pFXC_PRV"] }) { tickerId }
        byPool: pairs(filter: { poolIds: $poolIds }) { poolId }
        byToken: tickers(filter: { tokenId: "${BTC}" }) { tickerId }
        both: tickers(filter: { base: "pBTC", target: "PRV" }) { tickerId }
        none: pairs(filter: { tickerIds: [] }) { id }
        nothingSaid: pairs(filter: { tickerIds: null, base: null }) { id }
      }`,
      { poolIds: [chain.markets[3]?.poolId, 'no such pool'] },
    );
    expect(data).toEqual({
      byTicker: expect.arrayContaining([{ tickerId: 'pBTC_PRV' }, { tickerId: 'pFXC_PRV' }]),
      byPool: [{ poolId: chain.markets[3]?.poolId }],
      byToken: chain.markets
        .filter(({ base, target }) => base.id === BTC || target.id === BTC)
        .map(({ tickerId }) => ({ tickerId })),
      both: [{ tickerId: 'pBTC_PRV' }],
      none: [],
      nothingSaid: chain.markets.map(({ poolId }) => ({ id: `Pair:${poolId}` })),
    });
    expect(data.byTicker).toHaveLength(3);
  });

  test('a ticker id of several pools is ambiguous without a pool id', async () => {
    const poolIds = gateway.sandbox.chain.markets
      .filter(({ tickerId }) => tickerId === 'pFXC_PRV')
      .map(({ poolId }) => poolId);
    const { data, errors } = await gateway.ask(
      `query ($poolId: String!) {
        ticker(tickerId: "pFXC_PRV") { id }
        named: ticker(tickerId: "pFXC_PRV", poolId: $poolId) { poolId }
        other: pair(tickerId: "pBTC_PRV", poolId: $poolId) { poolId }
        alone: pair(poolId: $poolId) { poolId }
        unique: pair(tickerId: "pBTC_PRV") { targetId }
      }`,
      { poolId: poolIds[1] },
    );
    expect(data).toEqual({
      ticker: null,
      named: { poolId: poolIds[1] },
      other: null,
      alone: { poolId: poolIds[1] },
      unique: { targetId: PRV },
    });
    expect(errors).toEqual([
      expect.objectContaining({ path: ['ticker'], extensions: { code: 'AMBIGUOUS_TICKER', poolIds } }),
    ]);
  });

  test('one that does not exist is null, and a request without any id is an error', async () => {
    const { data, errors } = await gateway.ask(
      '{ a: pair(tickerId: "NO_PE") { id } b: ticker(poolId: "no") { id } pair { id } }',
    );
    expect(data).toEqual({ a: null, b: null, pair: null });
    expect(errors?.map(({ path, extensions }) => [path, extensions])).toEqual([[['pair'], { code: 'BAD_USER_INPUT' }]]);
  });
});
