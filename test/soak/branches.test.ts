import { expect, onTestFinished, test } from 'vitest';
import { createOutages } from '../../soak/outages.ts';
import { createServed } from '../../soak/served.ts';
import { createShownBlocks } from '../../soak/truth/shown-blocks.ts';
import type { Block } from '../../src/sandbox/chain/block.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';

async function startShown() {
  const sandbox = await createSandbox({ seed: 7, history: 10 });
  onTestFinished(sandbox.close);
  return createShownBlocks(sandbox);
}

const only = (block: Block | undefined) => (served: Block) => (served === block ? undefined : 'of another block');
const now = () => ({ sentAt: performance.now(), answeredAt: performance.now(), floor: 0 });

test('a block of a branch was shown from the beginning of the branch to its end, and is right for as long as it is fresh', async () => {
  const shown = await startShown();
  const { chain } = shown;
  const served = createServed(shown, createOutages(1));
  const branch = shown.branch();
  shown.advance();
  branch.end();
  shown.advance();
  const { height } = chain.tip;
  const counts = [height - 3, height - 2, height - 1, height].map((each) => shown.at(each).length);
  expect([branch.from, counts]).toEqual([height - 2, [1, 2, 2, 1]]);

  const own = chain.branchBlock(branch.from, height - 1);
  expect(served.misfit(height - 1, now(), only(own))).toBeUndefined();
  expect(served.misfitAt(height - 1, only(chain.branchBlock(branch.from, height)))).toBeDefined();
});

test('the chain of one branch with the pools of the other is wrong', async () => {
  const shown = await startShown();
  const served = createServed(shown, createOutages(1));
  const { from } = shown.branch();
  const [main, own] = [shown.chain.tip, shown.chain.branchBlock(from, from)];
  expect(served.misfitOfHead(from, now(), only(own), only(own))).toBeUndefined();
  expect(served.misfitOfHead(from, now(), only(main), only(own))).toBeDefined();
});

test('a fork explains blocks that were replaced while they were read, and no other error', () => {
  const outages = createOutages(1);
  const over = outages.fork();
  const moment = performance.now();
  expect([
    outages.explainReplaced(moment, moment),
    outages.explain('NODE', moment, moment),
    outages.isWell('NODE', moment, moment),
    outages.couldBeRead('NODE', moment, moment),
  ]).toEqual([true, false, true, true]);
  over();
  const later = performance.now() + 6_000;
  expect(outages.explainReplaced(later, later)).toBe(false);
});
