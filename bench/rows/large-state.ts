import { beginFinding, type Finding } from '../finding.ts';
import { startLoad } from '../load.ts';
import { withheldMs } from '../machine.ts';
import { onePool, toPost } from '../operations.ts';
import { heightOf, untilSettled } from '../query-round.ts';
import type { Reach } from '../reach.ts';
import type { Row, Stage } from '../row.ts';
import { startWorld } from '../servers.ts';
import type { LoopDelay } from '../tell.ts';

const WITHOUT = 'no new state';
const WITH = 'a new state every few seconds';
/** As many shares as pools, ten times: 100,000 at the largest size. */
const SHARES_PER_POOL = 10;

/** A state of the exchange that is read while clients ask: do they notice? */
export const largeState: Row = { name: 'large-state', run };

async function run(stage: Stage): Promise<readonly Finding[]> {
  const sizes = stage.quick ? [1_000] : [1_000, 3_000, 10_000];
  const { rounds, seconds, stateMs } = stage.quick
    ? { rounds: 1, seconds: 2, stateMs: 500 }
    : { rounds: 3, seconds: 8, stateMs: 2_500 };
  const at = sizes.slice(-1);
  const head = { unit: 'milliseconds', better: 'less', sizeUnit: 'pools', sizes, reference: WITHOUT } as const;
  const begin = (title: string, about: string, ...reaches: readonly Reach[]) =>
    beginFinding({ ...head, title, about, reaches });
  const asked = `Ten clients ask for one pool, each 10 ms after its last answer, for ${seconds} s; each pool has ${SHARES_PER_POOL} providers.`;
  const slowest = begin('A large state arrives: the slowest answer', asked, {
    subject: WITH,
    against: { subject: WITHOUT, by: 'more than' },
    bound: 'at most',
    value: 20,
    at,
  });
  const slow = begin('A large state arrives: one answer in a hundred is slower than', asked);
  const held = begin(
    'A large state arrives: how long the event loop was held',
    `${asked} The longest time at once, by libuv's clock each millisecond.`,
    { subject: WITH, bound: 'at most', value: 15, at, isForAll: true },
  );

  for (const pools of sizes) {
    await using world = await startWorld({ pools, sharesPerPool: SHARES_PER_POOL });
    await using load = await startLoad();
    const requests = [toPost(onePool(world.snapshot, 0))];
    await load.queries(world.gateway, { requests, seconds: 1 });
    const heights: number[] = [];
    const withheld: number[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const subject of [WITHOUT, WITH]) {
        if (subject === WITH) await world.sandbox.ask('advance every', stateMs);
        const before = await heightOf(world);
        const withheldBefore = withheldMs('server');
        await world.gateway.ask('watch loop');
        const told = await load.queries(world.gateway, { requests, seconds, connections: 10, pauseMs: 10 });
        slowest.add(subject, pools, told.maxMs);
        slow.add(subject, pools, told.p99Ms);
        held.add(subject, pools, (await world.gateway.ask<LoopDelay>('loop delay')).maxMs);
        withheld.push(withheldMs('server') - withheldBefore);
        if (subject === WITH) heights.push((await heightOf(world)) - before);
        await world.sandbox.ask('advance every', 0);
        await untilSettled(world);
      }
    }
    const bytes = await stateBytes(world.sandbox.facts.nodeUrl, world.snapshot.beaconHeight);
    slowest.note(
      `${pools.toLocaleString('en-US')} pools: the node's answer has ${(bytes / 1e6).toFixed(1)} MB; ${Math.min(...heights)} to ${Math.max(...heights)} came in a round of ${seconds} s.`,
    );
    held.note(
      `${pools.toLocaleString('en-US')} pools: the host of the machine kept the server's core to itself for ${Math.min(...withheld)} to ${Math.max(...withheld)} ms of a round, which counts as held where it comes at once.`,
    );
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
