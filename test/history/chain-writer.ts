import { createHistoryStore } from '../../src/history/store-client.ts';
import { branchBlock, endlessBlock, FIRST_HEIGHT, nextHeights } from './endless-chain.ts';

// A process that records the heights of an endless chain until it is killed: upwards, and downwards from the first one. At times
// it records a branch, and deletes it.

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
  if (up % 3 === 0) {
    const [first, ...others] = [0, 1, 2].map((above) => branchBlock(up + above));
    if (first === undefined) break;
    await store.record([first, ...others]);
    await store.deleteFrom({ beaconHeight: up, hash: first.hash, time: first.time });
  }
  if ((up - FIRST_HEIGHT) % 50 === 0) await store.prune(endlessBlock(up).time);
}
