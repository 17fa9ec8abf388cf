import { describe, expect, onTestFinished, test } from 'vitest';
import type { SoakContext } from '../../soak/context.ts';
import type { GraphqlResponse, Operation } from '../../soak/judge.ts';
import { createJudge } from '../../soak/judge.ts';
import { createOutages } from '../../soak/outages.ts';
import { headQuery, poolQuery } from '../../soak/queries/heads.ts';
import { tickerQuery } from '../../soak/queries/market.ts';
import { pastHeightsQuery } from '../../soak/queries/past-heights.ts';
import { createServedBlocks } from '../../soak/served-blocks.ts';
import { createShownBlocks } from '../../soak/shown-blocks.ts';
import { createRandom } from '../../src/sandbox/chain/random.ts';
import { startGatewayForTest } from '../support/gateway.ts';

/** A gateway, and the context of a soak run around it. */
async function startContext() {
  const gateway = await startGatewayForTest({ config: { headPollMs: 50, orderBookTtlMs: 50 } });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const shown = createShownBlocks(gateway.sandbox);
  const outages = createOutages(1);
  const served = createServedBlocks(shown, outages);
  const judge = createJudge(outages, () => {});
  const context: SoakContext = {
    url: new URL('http://gateway/graphql'),
    shown,
    served,
    outages,
    judge,
    load: 1,
    signal: stop.signal,
  };

  async function mismatchOf(
    operation: Operation,
    falsify: (answer: GraphqlResponse) => void = () => {},
  ): Promise<string | undefined> {
    const minHeight = served.highest();
    const sentAt = performance.now();
    const answer: GraphqlResponse = await gateway.ask(operation.query, operation.variables);
    falsify(answer);
    return operation.check?.(answer.data ?? {}, { sentAt, answeredAt: performance.now(), minHeight });
  }
  return { ...gateway, context, mismatchOf };
}

describe('the soak test finds', () => {
  test('nothing in correct responses', async () => {
    const { context, mismatchOf, untilHeight } = await startContext();
    const random = createRandom('right');
    for (let block = 0; block < 3; block++) {
      context.shown.advance();
      await untilHeight(context.shown.chain.tip.height);
      for (const query of [headQuery, poolQuery, pastHeightsQuery, tickerQuery])
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
