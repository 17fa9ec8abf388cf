import { beginFinding, type Finding } from '../finding.ts';
import { startLoad } from '../load.ts';
import { onePool, toPost } from '../operations.ts';
import type { Row, Stage } from '../row.ts';
import { startWorld } from '../servers.ts';
import type { LoopDelay } from '../tell.ts';

const WITHOUT = 'no new state';
const WITH = 'a new state every 2 s';
const STATE_EVERY_MS = 2_000;

/** A state of the exchange that is read while clients ask: do they notice? */
export const largeState: Row = { name: 'large-state', run };

async function run(stage: Stage): Promise<readonly Finding[]> {
  const sizes = stage.quick ? [1_000] : [1_000, 3_000, 10_000];
  const [rounds, seconds] = stage.quick ? [1, 3] : [3, 10];
  const begin = (title: string, about: string) =>
    beginFinding({ title, about, unit: 'milliseconds', better: 'less', sizeUnit: 'pools', sizes, reference: WITHOUT });
  const asked = 'Ten clients ask for one pool, each 10 ms after its last answer; each pool has ten providers.';
  const slowest = begin('A large state arrives: the slowest answer', asked);
  const slow = begin('A large state arrives: one answer in a hundred is slower than', asked);
  const held = begin('A large state arrives: how long the event loop was held', `${asked} The longest time at once.`);

  for (const pools of sizes) {
    await using world = await startWorld({ pools, sharesPerPool: 10 });
    await using load = await startLoad();
    const requests = [toPost(onePool(world.snapshot, 0))];
    await load.http(world.gateway, { requests, seconds: 1 });
    for (let round = 0; round < rounds; round++) {
      for (const subject of [WITHOUT, WITH]) {
        await world.sandbox.ask('advance every', subject === WITH ? STATE_EVERY_MS : 0);
        await world.gateway.ask('watch loop');
        const told = await load.http(world.gateway, { requests, seconds, connections: 10, pauseMs: 10 });
        slowest.add(subject, pools, told.maxMs);
        slow.add(subject, pools, told.p99Ms);
        held.add(subject, pools, (await world.gateway.ask<LoopDelay>('loop delay')).maxMs);
      }
    }
    const bytes = await stateBytes(world.sandbox.facts.nodeUrl, world.snapshot.beaconHeight);
    slowest.note(`${pools.toLocaleString('en-US')} pools: the node's answer has ${(bytes / 1e6).toFixed(1)} MB.`);
    stage.tell(`${slowest.title}, ${pools} pools: done`);
  }
  return [slowest, slow, held];
}

async function stateBytes(nodeUrl: string, height: number): Promise<number> {
  const response = await fetch(nodeUrl, {
    method: 'POST',
    body: JSON.stringify({ id: 1, jsonrpc: '1.0', method: 'getpdestate', params: [{ BeaconHeight: height }] }),
    signal: AbortSignal.timeout(60_000),
  });
  return (await response.arrayBuffer()).byteLength;
}
