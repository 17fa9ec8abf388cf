import { expect, onTestFinished, test } from 'vitest';
import { createOutages } from '../../soak/outages.ts';
import { createServedBlocks } from '../../soak/served-blocks.ts';
import { createShownBlocks } from '../../soak/shown-blocks.ts';
import type { Block } from '../../src/sandbox/chain/block.ts';
import { createSandboxHosts } from '../../src/sandbox/sandbox.ts';

async function startServed() {
  const sandbox = await createSandboxHosts({ history: 10 });
  onTestFinished(() => sandbox.close());
  const shown = createShownBlocks(sandbox);
  return { shown, served: createServedBlocks(shown, createOutages(1)) };
}

const only = (expected: Block) => (block: Block) => (block === expected ? undefined : 'of another block');
const times = () => ({ sentAt: performance.now(), answeredAt: performance.now(), minHeight: 0 });

test('while one of two nodes lags, the other can be read', () => {
  const outages = createOutages(2);
  outages.begin(0, 'lag');
  const now = performance.now();
  expect(outages.couldBeRead('NODE', now, now)).toBe(true);
});

test('the chain of one block with the pools of its replacement is wrong', async () => {
  const { shown, served } = await startServed();
  const first = shown.chain.tip;
  shown.replaceTip();
  const { tip } = shown.chain;
  const mixed = (block: Block) => only(first)(block) ?? only(tip)(block);
  expect(served.mismatch(tip.height, times(), only(first))).toBeUndefined();
  expect(served.mismatch(tip.height, times(), mixed)).toBeDefined();
  expect(served.mismatchAt(tip.height, mixed)).toBeDefined();
});

test('the chain of a height with the pools of the next is wrong', async () => {
  const { shown, served } = await startServed();
  const first = shown.chain.tip;
  shown.advance();
  const { tip } = shown.chain;
  expect(served.mismatchAt(tip.height, (block) => only(first)(block) ?? only(tip)(block))).toBeDefined();
});
