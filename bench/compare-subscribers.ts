import { expectSame } from './ask.ts';
import type { OpenFinding } from './finding.ts';
import { startLoad } from './load.ts';
import { pricesFrom } from './operations.ts';
import type { BenchProcess } from './processes.ts';
import type { Stage } from './row.ts';
import { GATEWAY, startWorld, type World } from './servers.ts';
import type { Memory } from './tell.ts';

/** Many subscribers of one server after another. */
export type SubscriberComparison = {
  readonly stage: Stage;
  /** The numbers of subscribers. */
  readonly sizes: readonly number[];
  /** How many different operations that many subscribers have between them. */
  operations(subscribers: number): number;
  readonly subjects: readonly string[];
  readonly pools: number;
  /** Milliseconds from an update's publication to its last receipt. */
  readonly time: OpenFinding;
  /** Kilobytes of resident memory that one subscriber takes. */
  readonly memory: OpenFinding;
};

/** How often a new height is looked for, and how rarely a socket is pinged: neither shall be what is measured. */
const SETTINGS = { HEAD_POLL_MS: '50', KEEP_ALIVE_MS: '600000' };

const WARM_UP = 20;

/** V8 gives pages that a collection has emptied back after eight seconds: before, garbage that has gone is still resident. */
const SETTLES_MS = 10_000;

/** Compares the servers in several rounds, each in a new world with new processes. */
export async function compareSubscribers(comparison: SubscriberComparison): Promise<void> {
  const { stage, sizes, pools, time } = comparison;
  const rounds = stage.quick ? 1 : 2;
  for (const size of sizes) {
    const busiest: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await using world = await startWorld({ pools }, SETTINGS);
      busiest.push(await runRound(comparison, world, size));
    }
    time.note(
      `${size.toLocaleString('en-US')} subscribers: the load used ${Math.round(Math.max(...busiest) * 100)} % of its core at most while an update of a peer came.`,
    );
    stage.tell(`${time.title}, ${size} subscribers: done`);
  }
}

/** @returns how busy the load was at most, 0 to 1, while an update of a peer came */
async function runRound(comparison: SubscriberComparison, world: World, size: number): Promise<number> {
  const { stage, subjects, time, memory } = comparison;
  const count = Math.min(comparison.operations(size), world.snapshot.pools.length);
  const operations = Array.from({ length: count }, (_, place) => pricesFrom(world.snapshot, place));
  const updates = stage.quick ? 2 : 8;
  const settlesMs = stage.quick ? 0 : SETTLES_MS;
  // What the gateway sends is what the others are held to.
  let wanted: string | undefined;
  let busiest = 0;

  for (const name of [GATEWAY, ...subjects.filter((subject) => subject !== GATEWAY)]) {
    const server = name === GATEWAY ? world.gateway : await world.startPeer(name);
    const publish = () => (name === GATEWAY ? world.sandbox.ask('advance') : server.ask('publish'));
    if (wanted !== undefined && server !== world.gateway) await tellWhatToSend(server, wanted);
    await using load = await startLoad();
    // What the first subscribers bring into memory, code above all, is none of the others'.
    await load.subscribe(server, { count: Math.min(size, WARM_UP), operations });
    await load.unsubscribe();
    const before = await server.ask<Memory>('memory', settlesMs);
    const first = await load.subscribe(server, { count: size, operations });
    if (wanted === undefined) wanted = first;
    else expectSame(name, toAnswer(first), toAnswer(wanted));
    // The first update warms up.
    await load.update(publish);
    const after = await server.ask<Memory>('memory', settlesMs);
    memory.add(name, size, (after.rss - before.rss) / size / 1_024);
    for (let times = 0; times < updates; times++) {
      const { ms, busy } = await load.update(publish);
      time.add(name, size, ms);
      // The gateway publishes a while after it is told to.
      if (name !== GATEWAY) busiest = Math.max(busiest, busy);
    }
  }
  return busiest;
}

/** Only the bare server has to be told; the others make their updates. */
async function tellWhatToSend(server: BenchProcess, text: string): Promise<void> {
  await server.ask('send', text).catch(() => {});
}

/** The answer within an update, without the moment at which it was made. */
function toAnswer(text: string): string {
  const { payload } = JSON.parse(text) as { readonly payload: object };
  return JSON.stringify(payload).replace(/"observedAt":"[^"]+"/, '"observedAt":""');
}
