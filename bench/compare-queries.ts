import { ASK_TEXT, askText, expectSame } from './ask.ts';
import { beginFinding, type Finding, type OpenFinding } from './finding.ts';
import { startLoad } from './load.ts';
import { type Operation, toRequest } from './operations.ts';
import { askAgain, askOnceEach, type Round } from './query-round.ts';
import type { Reach } from './reach.ts';
import type { Stage } from './row.ts';
import { BARE_HTTP, GATEWAY, type Subject, startWorld, type World } from './servers.ts';
import type { Snapshot } from './snapshot.ts';
import { median } from './statistics.ts';

/** One thing that is asked of all servers, as often as they answer. */
export type Question = {
  readonly title: string;
  readonly about: string;
  /** What is asked in turn. */
  operations(snapshot: Snapshot): readonly Operation[];
  /**
   * How often a block is made while the gateway is asked. `undefined` makes one each time that all operations were asked,
   * and waits until the gateway has it.
   */
  readonly blockMs: number | undefined;
  readonly reach: Reach;
};

/** Who is asked, how long and how often, in front of how many pools, with which settings of the gateway. */
export type Extent = {
  readonly sizes: readonly number[];
  /**
   * How often everything is started anew: how quick a process turns out differs from one start to the next by more than
   * rounds within it do. All take part in the first world; in the others those that are held against each other, and the
   * bare server: the rest are so much slower that one world tells enough.
   */
  readonly worlds: number;
  /** How many rounds there are in each world. */
  readonly rounds: number;
  readonly seconds: number;
  /** How long each server is asked before anything is timed: all of them are compiled by then for what they do most. */
  readonly warmUpSeconds: number;
  readonly env?: Readonly<Record<string, string>>;
  /** What the others are held against; it takes part in every world. */
  readonly reference: string;
  /** Starts what is asked: those that take part in every world, and those of the others that are wanted. */
  start(world: World, isWanted: (name: string) => boolean): Promise<Subjects>;
};

type Subjects = ReadonlyMap<string, Subject>;

/** What is asked, what was found of it, and how each round went with each server at one size. */
type Inquiry = {
  readonly question: Question;
  readonly finding: OpenFinding;
  readonly told: Map<string, Round[]>;
};

/** Asks all servers all questions, world by world and round by round, at several sizes. */
export async function compareQueries(
  stage: Stage,
  extent: Extent,
  questions: readonly Question[],
): Promise<readonly Finding[]> {
  const { sizes, worlds } = extent;
  const begun = questions.map((question) => ({ question, finding: begin(question, extent) }));
  for (const size of sizes) {
    const inquiries = begun.map((each) => ({ ...each, told: new Map<string, Round[]>() }));
    for (let world = 0; world < worlds; world++) {
      await compareInWorld({ extent, inquiries, size, isFirst: world === 0 });
      stage.tell(`${questions[0]?.title}, ${size} pools: world ${world + 1} of ${worlds} done`);
    }
    for (const { finding, told } of inquiries) noteTheLoad(finding, size, told);
  }
  return begun.map(({ finding }) => finding);
}

function begin({ title, about, reach }: Question, { sizes, reference }: Extent): OpenFinding {
  return beginFinding({
    title,
    about,
    unit: 'answers per second',
    better: 'more',
    sizeUnit: 'pools',
    sizes,
    reference,
    reaches: [reach],
  });
}

type InWorld = {
  readonly extent: Extent;
  readonly inquiries: readonly Inquiry[];
  readonly size: number;
  readonly isFirst: boolean;
};

async function compareInWorld({ extent, inquiries, size, isFirst }: InWorld): Promise<void> {
  await using world = await startWorld({ pools: size }, extent.env);
  const { reference } = extent;
  const judged = new Set(
    inquiries.flatMap(({ question: { reach } }) => [reference, reach.subject, reach.against?.subject ?? reference]),
  );
  const subjects = await extent.start(world, (name) => isFirst || judged.has(name));
  // All are compared before anything is timed: the peers' data stays as it was, the gateway's does not.
  const answers: string[] = [];
  for (const { question } of inquiries) {
    answers.push(await expectSameAnswers(subjects, question.operations(world.snapshot)));
  }
  for (const [place, inquiry] of inquiries.entries()) {
    await subjects.get(BARE_HTTP)?.server.ask('send', answers[place]);
    await compare({ extent, world, subjects, inquiry, size });
  }
}

/** Holds all servers against the gateway with some of the operations. @returns its answer to the first */
async function expectSameAnswers(subjects: Subjects, operations: readonly Operation[]): Promise<string> {
  const gateway = subjects.get(GATEWAY);
  let wanted = '';
  // All are made alike.
  for (const place of new Set([operations.length - 1, operations.length >> 1, 0])) {
    const operation = operations[place];
    if (gateway === undefined || operation === undefined) throw new Error('there is nothing to compare');
    wanted = await askText(gateway.server.url, operation);
    await subjects.get(BARE_HTTP)?.server.ask('send', wanted);
    for (const [name, { server, transport }] of subjects)
      expectSame(name, await ASK_TEXT[transport](server.url, operation), wanted);
  }
  return wanted;
}

type Comparison = {
  readonly extent: Extent;
  readonly world: World;
  readonly subjects: Subjects;
  readonly inquiry: Inquiry;
  readonly size: number;
};

async function compare({ extent, world, subjects, inquiry, size }: Comparison): Promise<void> {
  const { rounds, seconds, warmUpSeconds } = extent;
  const { question, finding, told } = inquiry;
  const { blockMs } = question;
  await using load = await startLoad();
  const operations = question.operations(world.snapshot);
  const inOrder = [...subjects].map(([name, subject]) => ({
    ...subject,
    name,
    requests: operations.map((operation) => toRequest(operation, subject.transport)),
  }));
  // The first round warms up.
  for (let round = -1; round < rounds; round++) {
    // Another comes first in each round, so that none is always asked after the same.
    const first = Math.max(0, round) % inOrder.length;
    for (const subject of [...inOrder.slice(first), ...inOrder.slice(0, first)]) {
      const { name } = subject;
      const asked = { ...subject, world, load, seconds: round < 0 ? warmUpSeconds : seconds };
      const once = await (blockMs === undefined ? askOnceEach(asked) : askAgain(asked, blockMs));
      if (round < 0) continue;
      finding.add(name, size, once.perSecond);
      told.set(name, [...(told.get(name) ?? []), once]);
    }
  }
}

/** What the load could have asked at most, by how busy it was against the reference; and how often there was a new height. */
function noteTheLoad(finding: OpenFinding, size: number, told: ReadonlyMap<string, readonly Round[]>): void {
  const { reference = '' } = finding;
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const busy = (name: string) => median((told.get(name) ?? []).map((round) => round.busy));
  const rate = median((told.get(reference) ?? []).map(({ perSecond }) => perSecond));
  const others = [...told.keys()].filter((name) => name !== reference).map(busy);
  const could = Math.round(rate / busy(reference)).toLocaleString('en-US');
  const heights = median((told.get(GATEWAY) ?? []).map((round) => round.heights));
  finding.note(
    `${size.toLocaleString('en-US')} pools: against ${reference} the load used ${percent(busy(reference))} of its core, so it could ask about ${could} times per second; against the others ${percent(Math.max(...others))} at most. The gateway had ${heights} new heights in a round.`,
  );
}
