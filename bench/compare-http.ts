import { askText, expectSame } from './ask.ts';
import { beginFinding, type Finding, type OpenFinding } from './finding.ts';
import { startLoad } from './load.ts';
import { type Operation, toPost } from './operations.ts';
import type { BenchProcess } from './processes.ts';
import type { Stage } from './row.ts';
import { BARE_HTTP, GATEWAY, startHttpServers, startWorld, type World } from './servers.ts';
import type { Snapshot } from './snapshot.ts';
import { median } from './statistics.ts';

/** One thing that is asked of all servers, as often as they answer. */
export type HttpQuestion = {
  readonly title: string;
  readonly about: string;
  /** What is asked in turn. */
  operations(snapshot: Snapshot): readonly Operation[];
  /** Whether nothing is asked twice: each round then takes a part of the operations, and ends with it. */
  readonly isOnce: boolean;
  /** How often a block is made while the gateway is asked; 0 for never, or the peers' data is too old for later questions. */
  readonly blockMs: number;
};

/** How long and how often, and in front of how many pools. */
type Extent = { readonly sizes: readonly number[]; readonly rounds: number; readonly seconds: number };

const FULL: Extent = { sizes: [100, 1_000, 10_000], rounds: 5, seconds: 3 };
const QUICK: Extent = { sizes: [120], rounds: 2, seconds: 0.2 };

/** Asks all servers all questions, round by round, in worlds of several sizes. */
export async function compareHttp(stage: Stage, questions: readonly HttpQuestion[]): Promise<readonly Finding[]> {
  const extent = stage.quick ? QUICK : FULL;
  const findings = questions.map(({ title, about }) =>
    beginFinding({
      title,
      about,
      unit: 'answers per second',
      better: 'more',
      sizeUnit: 'pools',
      sizes: extent.sizes,
      reference: BARE_HTTP,
    }),
  );
  for (const size of extent.sizes) {
    await using world = await startWorld({ pools: size });
    const servers = await startHttpServers(world);
    for (const [place, question] of questions.entries()) {
      const finding = findings[place];
      if (finding) await compare({ stage, extent, world, servers, question, finding, size });
    }
  }
  return findings;
}

type Comparison = {
  readonly stage: Stage;
  readonly extent: Extent;
  readonly world: World;
  readonly servers: ReadonlyMap<string, BenchProcess>;
  readonly question: HttpQuestion;
  readonly finding: OpenFinding;
  readonly size: number;
};

async function compare({ stage, extent, world, servers, question, finding, size }: Comparison): Promise<void> {
  const { rounds, seconds } = extent;
  const operations = question.operations(world.snapshot);
  // All are made alike.
  const samples = [operations.at(-1), operations[operations.length >> 1], operations[0]].filter(
    (one) => one !== undefined,
  );
  for (const sample of new Set(samples)) await expectSameAnswers(servers, sample);

  await using load = await startLoad();
  const warm = operations.slice(0, 1).map(toPost);
  for (const server of servers.values()) await load.http(server, { requests: warm, seconds: Math.min(1, seconds) });
  const fresh = operations.filter((operation) => !samples.includes(operation));
  const requests = (question.isOnce ? fresh : operations).map(toPost);
  const perRound = Math.floor(requests.length / rounds);

  const busy = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    // Another comes first in each round, so that none is always asked after the same.
    const first = round % servers.size;
    for (const [name, server] of [...[...servers].slice(first), ...[...servers].slice(0, first)]) {
      const part = requests.slice(round * perRound, (round + 1) * perRound);
      const blockMs = name === GATEWAY ? question.blockMs : 0;
      if (blockMs > 0) await world.sandbox.ask('advance every', blockMs);
      const told = question.isOnce
        ? await load.http(server, { requests: part, seconds, atMost: part.length })
        : await load.http(server, { requests, seconds });
      if (blockMs > 0) await world.sandbox.ask('advance every', 0);
      finding.add(name, size, told.perSecond);
      busy.set(name, [...(busy.get(name) ?? []), told.busy]);
    }
  }
  noteTheLoad(finding, size, busy);
  stage.tell(`${question.title}, ${size} pools: done`);
}

/** Holds all servers against the gateway, and gives the bare one its bytes. */
async function expectSameAnswers(servers: ReadonlyMap<string, BenchProcess>, operation: Operation): Promise<void> {
  const gateway = servers.get(GATEWAY);
  if (!gateway) throw new Error('the gateway is not among the servers');
  const wanted = await askText(gateway.url, operation);
  await servers.get(BARE_HTTP)?.ask('send', wanted);
  for (const [name, { url }] of servers) expectSame(name, await askText(url, operation), wanted);
}

/** What the load could have asked at most, by how busy it was against the quickest. */
function noteTheLoad(finding: OpenFinding, size: number, busy: ReadonlyMap<string, readonly number[]>): void {
  const rate = median(finding.cells.get(BARE_HTTP)?.get(size)?.samples ?? []);
  const atBare = median(busy.get(BARE_HTTP) ?? []);
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const others = [...busy].filter(([name]) => name !== BARE_HTTP).map(([, shares]) => median(shares));
  finding.note(
    `${size.toLocaleString('en-US')} pools: against the bare server the load used ${percent(atBare)} of its core, so it could ask about ${Math.round(rate / atBare).toLocaleString('en-US')} times per second; against the others ${percent(Math.max(...others))} at most.`,
  );
}
