import { createHistoryStore } from '../../src/history/store-client.ts';
import { endlessBlock, FIRST_HEIGHT, nextHeights } from './endless-chain.ts';

// A process that records the heights of an endless chain until it is killed: upwards, and downwards from the first one.

const path = process.argv[2] ?? '';
const store = createHistoryStore({ database: { kind: 'sqlite', path }, rawDays: 7 });
await store.useChain('test');
const coverage = await store.coverage(0);
let [up, down] = nextHeights(coverage);
process.stdout.write(`${coverage?.heights ?? 0}\n`);
for (;;) {
  await store.record([endlessBlock(up), endlessBlock(down)]);
  up += 1;
  down -= 1;
  if ((up - FIRST_HEIGHT) % 50 === 0) await store.prune(endlessBlock(up).time);
}
