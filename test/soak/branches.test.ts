import { expect, onTestFinished, test } from 'vitest';
import { createOutages } from '../../soak/outages.ts';
import { createServedBlocks } from '../../soak/served-blocks.ts';
import { createShownBlocks } from '../../soak/shown-blocks.ts';
import type { Block } from '../../src/sandbox/chain/block.ts';
import { createSandboxHosts } from '../../src/sandbox/sandbox.ts';

async function startShown() {
  const sandbox = await createSandboxHosts({ seed: 7, history: 10 });
  onTestFinished(sandbox.close);
  return createShownBlocks(sandbox);
}

const only = (block: Block | undefined) => (served: Block) => (served === block ? undefined : 'of another block');
const now = () => ({ sentAt: performance.now(), answeredAt: performance.now(), minHeight: 0 });

test('blocks of a branch match while the branch exists', async () => {
  const shown = await startShown();
  const { chain } = shown;
  const served = createServedBlocks(shown, createOutages(1));
  const branch = shown.branch();
  shown.advance();
  branch.end();
  shown.advance();
  const { height } = chain.tip;
  const counts = [height - 3, height - 2, height - 1, height].map((each) => shown.at(each).length);
  expect([branch.from, counts]).toEqual([height - 2, [1, 2, 2, 1]]);

  const own = chain.branchBlock(branch.from, height - 1);
  expect(served.mismatch(height - 1, now(), only(own))).toBeUndefined();
  expect(served.mismatchAt(height - 1, only(chain.branchBlock(branch.from, height)))).toBeDefined();
});

test('the chain of one branch with the pools of the other is wrong', async () => {
  const shown = await startShown();
  const served = createServedBlocks(shown, createOutages(1));
  const { from } = shown.branch();
  const [main, own] = [shown.chain.tip, shown.chain.branchBlock(from, from)];
  expect(served.mismatch(from, now(), only(own))).toBeUndefined();
  expect(served.mismatch(from, now(), (block) => only(main)(block) ?? only(own)(block))).toBeDefined();
});

test('a fork explains blocks that were replaced while they were read, states of its heights, and no other error', () => {
  const outages = createOutages(2);
  const end = outages.fork(100);
  const moment = performance.now();
  expect([
    outages.explainsReplaced(moment, moment),
    outages.explains('NODE', moment, moment),
    outages.isWell('NODE', moment, moment),
    outages.couldBeRead('NODE', moment, moment),
  ]).toEqual([true, false, true, true]);
  // Block 99 is common, and makes 96 final.
  expect([96, 97].map((height) => outages.explainsBranch(height, moment, moment))).toEqual([false, true]);
  end();
  const later = performance.now() + 6_000;
  expect(outages.explainsReplaced(later, later)).toBe(false);
  expect(outages.explainsBranch(97, later, later)).toBe(false);
});
