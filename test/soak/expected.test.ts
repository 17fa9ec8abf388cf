import { describe, expect, test } from 'vitest';
import { headQuery, poolQuery } from '../../soak/queries/heads.ts';
import { tickerQuery } from '../../soak/queries/market.ts';
import { pastHeightsQuery } from '../../soak/queries/past-heights.ts';
import { quoteQuery } from '../../soak/queries/quote.ts';
import { createRandom } from '../../src/sandbox/chain/random.ts';
import { startContext } from './soak-context.ts';

describe('the soak test finds', () => {
  test('nothing in correct responses', async () => {
    const { context, mismatchOf, untilHeight } = await startContext();
    const random = createRandom('right');
    for (let block = 0; block < 3; block++) {
      context.shown.advance();
      await untilHeight(context.shown.chain.tip.height);
      for (const query of [headQuery, poolQuery, pastHeightsQuery, quoteQuery, tickerQuery])
        expect(await mismatchOf(query(context, random))).toBeUndefined();
    }
  });

  test('a reserve that is too large by one unit', async () => {
    const { context, mismatchOf, untilHeight } = await startContext();
    await untilHeight(context.shown.chain.tip.height);
    const mismatch = await mismatchOf(headQuery(context, createRandom('reserve')), ({ data }) => {
      const [pool] = (data as { poolPairs: { nodes: { token1PoolValue: string }[] } }).poolPairs.nodes;
      if (pool) pool.token1PoolValue = String(BigInt(pool.token1PoolValue) + 1n);
    });
    expect(mismatch).toContain('poolPairs[0] is');
  });

  test('a quote that is one unit too good', async () => {
    const { context, mismatchOf, untilHeight } = await startContext();
    await untilHeight(context.shown.chain.tip.height);
    const random = createRandom('quote');
    let found = 0;
    for (let n = 0; n < 20 && found <= 5; n++) {
      let isFalse = false;
      const mismatch = await mismatchOf(quoteQuery(context, random), ({ data }) => {
        const { now } = data as { now: { buyAmount: string } | null };
        isFalse = now !== null;
        if (now) now.buyAmount = String(BigInt(now.buyAmount) + 1n);
      });
      expect(mismatch === undefined).toBe(!isFalse);
      if (isFalse) found += 1;
    }
    expect(found).toBeGreaterThan(5);
  });

  test('a height that goes back', async () => {
    const { context, mismatchOf, untilHeight } = await startContext();
    const { height } = context.shown.chain.tip;
    context.shown.advance();
    await untilHeight(height + 1);
    const random = createRandom('back');
    expect(await mismatchOf(poolQuery(context, random))).toBeUndefined();
    const mismatch = await mismatchOf(poolQuery(context, random), ({ data }) => {
      (data as { beaconHeight: number }).beaconHeight = height;
    });
    expect(mismatch).toBe(`height ${height} after ${height + 1}`);
  });
});
