import { ask } from '../ask.ts';
import { beginFinding, type Finding } from '../finding.ts';
import type { Row, Stage } from '../row.ts';
import { startWorld } from '../servers.ts';
import type { Memory } from '../tell.ts';

/** How many past heights the gateway keeps. */
const KEPT = 64;

/** The newest heights can still be replaced, and are kept for as long as they can. */
const FINAL_BELOW_TIP = 3;

const AT = 'query At($at: BeaconHeight!) { poolPairs(first: 1, at: $at) { totalCount } }';

/** What it takes to keep many past heights of a large exchange. */
export const pastHeights: Row = { name: 'past-heights', run };

async function run(stage: Stage): Promise<readonly Finding[]> {
  const sizes = stage.quick ? [200] : [1_000, 3_000, 10_000];
  const finding = beginFinding({
    title: `Memory with ${KEPT} past heights`,
    about: `After a collection of garbage: at first, with the newest height alone, and after ${KEPT} past heights have been asked for, once each.`,
    unit: 'MiB',
    better: 'less',
    sizeUnit: 'pools',
    sizes,
    reference: undefined,
  });
  const note = (when: string, pools: number, { heapUsed, rss }: Memory) => {
    finding.add(`heap in use, ${when}`, pools, heapUsed / 2 ** 20);
    finding.add(`resident, ${when}`, pools, rss / 2 ** 20);
  };
  for (const pools of sizes) {
    await using world = await startWorld({ pools, history: KEPT + 10 });
    note('the newest height alone', pools, await world.gateway.ask<Memory>('memory'));
    const newest = world.snapshot.beaconHeight - FINAL_BELOW_TIP;
    for (let at = newest; at > newest - KEPT; at--) {
      await ask(world.gateway.url, { query: AT, variables: { at } });
    }
    note(`${KEPT} past heights too`, pools, await world.gateway.ask<Memory>('memory'));
    stage.tell(`${finding.title}, ${pools} pools: done`);
  }
  return [finding];
}
