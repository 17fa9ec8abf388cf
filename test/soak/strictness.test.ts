import { expect, onTestFinished, test } from 'vitest';
import { createOutages } from '../../soak/outages.ts';
import { createServed } from '../../soak/served.ts';
import { createShownBlocks } from '../../soak/truth/shown-blocks.ts';
import type { Block } from '../../src/sandbox/chain/block.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';

/** Holds a gateway to everything, or to nothing that can be forgiven. */
function forgiving(each: boolean) {
  return { stayingWithANodeThatHidesBlocks: each, mixingTwoBlocksOfOneHeight: each, mixingTwoHeights: each };
}

async function startShown() {
  const sandbox = await createSandbox();
  onTestFinished(() => sandbox.close());
  return createShownBlocks(sandbox);
}

test('while one of two nodes lags the other can be read, unless that is forgiven', () => {
  for (const each of [true, false]) {
    const outages = createOutages(2, forgiving(each));
    outages.begin(0, 'lag');
    const now = performance.now();
    expect(outages.couldBeRead('NODE', now, now)).toBe(!each);
  }
});

test('the chain of one block with the pools of another is wrong, unless that is forgiven', async () => {
  const shown = await startShown();
  const first = shown.chain.tip;
  shown.replaceTip();
  const { tip } = shown.chain;
  const only = (block: Block) => (told: Block) => (told === block ? undefined : 'of another block');
  for (const each of [true, false]) {
    const served = createServed(shown, createOutages(1), forgiving(each));
    const moment = { sentAt: performance.now(), answeredAt: performance.now(), floor: 0 };
    expect(served.misfitOfHead(tip.height, moment, only(first), only(first))).toBeUndefined();
    const isRight = [served.misfitOfHead(tip.height, moment, only(first), only(tip)) === undefined];
    isRight.push(served.misfitOfHeadAt(tip.height, only(first), only(tip)) === undefined);
    expect(isRight).toEqual([each, each]);
  }
});

test('the chain of a height with the pools of the next is wrong, unless that is forgiven', async () => {
  const shown = await startShown();
  const first = shown.chain.tip;
  shown.advance();
  const { tip } = shown.chain;
  const only = (block: Block) => (told: Block) => (told === block ? undefined : 'of another block');
  for (const each of [true, false]) {
    const served = createServed(shown, createOutages(1), forgiving(each));
    expect(served.misfitOfHeadAt(tip.height, only(first), only(tip)) === undefined).toBe(each);
  }
});
