import { ask } from '../ask.ts';
import { beginFinding, type Finding } from '../finding.ts';
import type { BenchProcess } from '../processes.ts';
import type { Row, Stage } from '../row.ts';
import { startWorld } from '../servers.ts';
import type { Memory } from '../tell.ts';

/** How many past heights the gateway keeps. */
const KEPT = 64;

/** The newest heights can still be replaced, and are kept for as long as they can. */
const FINAL_BELOW_TIP = 3;

const [asItIs, collected] = ['as it is', 'after a collection'];

const AT = 'query At($at: BeaconHeight!) { poolPairs(first: 1, at: $at) { totalCount } }';

/** What it takes to keep many past heights of a large exchange. */
export const pastHeights: Row = { name: 'past-heights', run };

async function run(stage: Stage): Promise<readonly Finding[]> {
  const sizes = stage.quick ? [200] : [1_000, 3_000, 10_000];
  const finding = beginFinding({
    title: `Memory with ${KEPT} past heights`,
    about: `At first, with the newest height alone, and after ${KEPT} past heights have been asked for, once each: resident memory as it is then, and after a collection of garbage.`,
    unit: 'MB',
    better: 'less',
    sizeUnit: 'pools',
    sizes,
    reference: undefined,
    reaches: [asItIs, collected].map((when) => ({
      subject: `resident, ${KEPT} past heights too, ${when}`,
      bound: 'at most',
      value: 250,
      at: sizes.slice(-1),
    })),
  });
  async function note(what: string, pools: number, gateway: BenchProcess): Promise<void> {
    finding.add(`resident, ${what}, ${asItIs}`, pools, (await gateway.ask<number>('resident bytes')) / 1e6);
    const { heapUsed, rss } = await gateway.ask<Memory>('memory');
    finding.add(`resident, ${what}, ${collected}`, pools, rss / 1e6);
    finding.add(`heap in use, ${what}, ${collected}`, pools, heapUsed / 1e6);
  }
  for (const pools of sizes) {
    await using world = await startWorld({ pools, history: KEPT + 10 });
    await note('the newest height alone', pools, world.gateway);
    const newest = world.snapshot.beaconHeight - FINAL_BELOW_TIP;
    for (let at = newest; at > newest - KEPT; at--) {
      await ask(world.gateway.url, { query: AT, variables: { at } });
    }
    await note(`${KEPT} past heights too`, pools, world.gateway);
    stage.tell(`${finding.title}, ${pools} pools: done`);
  }
  return [finding];
}
