import { describe, expect, onTestFinished, test } from 'vitest';
import type { Answer, Question } from '../../soak/judge.ts';
import { createJudge } from '../../soak/judge.ts';
import { createOutages } from '../../soak/outages.ts';
import { askOnePool, askWholeHead } from '../../soak/questions/heads.ts';
import { askTicker } from '../../soak/questions/market.ts';
import { askPast } from '../../soak/questions/past.ts';
import { createServed } from '../../soak/served.ts';
import type { Stage } from '../../soak/stage.ts';
import { createShownBlocks } from '../../soak/truth/shown-blocks.ts';
import { createRandom } from '../../src/sandbox/chain/random.ts';
import { startGatewayForTest } from '../support/gateway.ts';

/** A gateway, and the stage of a soak around it. */
async function startStage() {
  const gateway = await startGatewayForTest({ config: { headPollMs: 50, orderBookTtlMs: 50 } });
  const leave = new AbortController();
  onTestFinished(() => leave.abort());
  const shown = createShownBlocks(gateway.sandbox);
  const outages = createOutages(1);
  const served = createServed(shown, outages);
  const judge = createJudge(outages, () => {});
  const stage: Stage = {
    url: new URL('http://gateway/graphql'),
    shown,
    served,
    outages,
    judge,
    load: 1,
    signal: leave.signal,
  };

  async function misfitOf(question: Question, spoil: (answer: Answer) => void = () => {}): Promise<string | undefined> {
    const floor = served.highest();
    const sentAt = performance.now();
    const answer: Answer = await gateway.ask(question.query, question.variables);
    spoil(answer);
    return question.check?.(answer.data ?? {}, { sentAt, answeredAt: performance.now(), floor });
  }
  return { ...gateway, stage, misfitOf };
}

describe('what does the soak find', () => {
  test('nothing in the answers of a gateway that is right', async () => {
    const { stage, misfitOf, untilHeight } = await startStage();
    const random = createRandom('right');
    for (let block = 0; block < 3; block++) {
      stage.shown.advance();
      await untilHeight(stage.shown.chain.tip.height);
      for (const ask of [askWholeHead, askOnePool, askPast, askTicker])
        expect(await misfitOf(ask(stage, random))).toBeUndefined();
    }
  });

  test('one unit too much in one reserve', async () => {
    const { stage, misfitOf, untilHeight } = await startStage();
    await untilHeight(stage.shown.chain.tip.height);
    const misfit = await misfitOf(askWholeHead(stage, createRandom('reserve')), ({ data }) => {
      const [pool] = (data as { poolPairs: { nodes: { token1PoolValue: string }[] } }).poolPairs.nodes;
      if (pool) pool.token1PoolValue = String(BigInt(pool.token1PoolValue) + 1n);
    });
    expect(misfit).toContain('poolPairs[0] is');
  });

  test('a height that goes back', async () => {
    const { stage, misfitOf, untilHeight } = await startStage();
    const { height } = stage.shown.chain.tip;
    stage.shown.advance();
    await untilHeight(height + 1);
    const random = createRandom('back');
    expect(await misfitOf(askOnePool(stage, random))).toBeUndefined();
    const misfit = await misfitOf(askOnePool(stage, random), ({ data }) => {
      (data as { beaconHeight: number }).beaconHeight = height;
    });
    expect(misfit).toBe(`height ${height} after ${height + 1} had been told`);
  });
});
