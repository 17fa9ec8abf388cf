import type { Goal } from './goal.ts';
import { expectSameData, type Operation, REQUEST_TEXT, requestText } from './graphql-client.ts';
import type { Transport } from './load/connection.ts';
import { startLoadGenerator } from './load-generator.ts';
import { toRequest } from './operations.ts';
import { orderOf } from './order.ts';
import { notesOf, type RoundResult, runRepeated, runUnique } from './query-rounds.ts';
import { createResult, type OpenResult, type Result } from './result.ts';
import type { RowContext } from './row.ts';
import type { Snapshot } from './snapshot.ts';
import { BARE_HTTP, type StartTargets, startGateways, type Targets } from './targets.ts';
import { startTestbed, type Testbed } from './testbed.ts';

/** One kind of query, sent to all targets. */
export type QueryCase = {
  readonly title: string;
  readonly about: string;
  /** The operations, which are sent one after another. */
  operations(snapshot: Snapshot): readonly Operation[];
  /**
   * Whether the operations are repeated during a round, in which the gateway gets one new block. Otherwise, a block is created each
   * time that all operations have been sent, and the gateway has it before they are sent again.
   */
  readonly isRepeated: boolean;
  /** The goals for the throughput. */
  readonly goals: readonly Goal[];
};

/** Sizes and times of a benchmark of queries. */
export type QuerySchedule = {
  /** The numbers of pools. */
  readonly sizes: readonly number[];
  /**
   * How often all processes are started: the speed of a process differs from one start to the next by more than rounds
   * within a start do. Reference servers that no goal names are much slower, and take part in the first start of the largest size
   * only, for the chart.
   */
  readonly starts: number;
  /** The number of rounds in each start. */
  readonly rounds: number;
  /** The length of a round. If operations are repeated, it should be enough for the gateway to read a new state meanwhile. */
  readonly seconds: number;
  /** The length of the first round, which does not count. The JIT has compiled the hot code by then. */
  readonly warmUpSeconds: number;
};

/** After a shorter warm-up, V8 is still compiling: a server with more code would look slower than it is. */
const WARM_UP_SECONDS = 5;

/** The schedule of most rows. */
export const SCHEDULE: QuerySchedule = {
  sizes: [10_000],
  starts: 3,
  rounds: 2,
  seconds: 1,
  warmUpSeconds: WARM_UP_SECONDS,
};

/** The targets of a benchmark of queries. */
export type QueryTargets = { readonly start: StartTargets };

const QUICK: QuerySchedule = { sizes: [160], starts: 1, rounds: 2, seconds: 0.2, warmUpSeconds: 0.2 };
/** A comparison of two checkouts: more starts say more than more rounds. */
const COMPARISON: QuerySchedule = {
  sizes: [1_000],
  starts: 5,
  rounds: 2,
  seconds: 2,
  warmUpSeconds: WARM_UP_SECONDS,
};

/** The schedule of a run: `full`, or the one of a quick run or a comparison. */
export function scheduleOf({ quick, isComparison }: RowContext, full: QuerySchedule): QuerySchedule {
  return quick ? QUICK : isComparison ? COMPARISON : full;
}

/** The targets of a run: `all`, or in a comparison only the gateways over one transport. */
export function targetsOf({ isComparison }: RowContext, all: QueryTargets, transport: Transport): QueryTargets {
  return isComparison ? { start: startGateways(transport) } : all;
}

/** The gateway polls for a new height often, so that little time passes without a measurement. */
const SETTINGS = { HEAD_POLL_MS: '100' };

/** A case with its figures so far. */
type CaseRun = {
  readonly queryCase: QueryCase;
  /** The throughput. */
  readonly result: OpenResult;
  /** The CPU time of the server for each response: with it, two checkouts can be compared on a machine that others use. */
  readonly cpuTime: OpenResult;
  readonly rounds: RoundResult[];
};

/** Measures all cases, start by start and round by round, at several sizes. */
export async function benchmarkQueries(
  context: RowContext,
  schedule: QuerySchedule,
  targets: QueryTargets,
  cases: readonly QueryCase[],
): Promise<readonly Result[]> {
  const { sizes, starts } = schedule;
  const runs = cases.map((queryCase) => createRun(queryCase, schedule));
  for (const size of sizes) {
    for (let start = 0; start < starts; start++) {
      await runStart({ context, schedule, targets, runs, size, start });
      context.log(`${cases[0]?.title}, ${size} pools: start ${start + 1} of ${starts} done`);
    }
  }
  for (const { result, rounds } of runs) {
    for (const note of notesOf(rounds, context.quick)) result.note(note);
  }
  return runs.flatMap(({ result, cpuTime }) => (context.isComparison ? [result, cpuTime] : [result]));
}

function createRun(queryCase: QueryCase, { sizes, rounds }: QuerySchedule): CaseRun {
  const { title, about, goals } = queryCase;
  const head = { about, sizeUnit: 'pools', sizes, samplesPerStart: rounds } as const;
  return {
    queryCase,
    result: createResult({ ...head, title, unit: 'responses/s', better: 'more', goals }),
    cpuTime: createResult({ ...head, title: `${title}: CPU time`, unit: 'µs', better: 'less', goals: [] }),
    rounds: [],
  };
}

type Start = {
  readonly context: RowContext;
  readonly schedule: QuerySchedule;
  readonly targets: QueryTargets;
  readonly runs: readonly CaseRun[];
  readonly size: number;
  readonly start: number;
};

async function runStart({ context, schedule, targets: { start: startTargets }, runs, size, start }: Start) {
  await using testbed = await startTestbed(context.checkouts, { pools: size }, SETTINGS);
  const peers = new Set(
    runs.flatMap(({ queryCase: { goals } }) => goals.flatMap((goal) => goal.baseline?.target ?? [])),
  );
  const isFirst = start === 0 && size === Math.max(...schedule.sizes);
  const targets = await startTargets(testbed, (name) => !context.isComparison && (isFirst || peers.has(name)));
  for (const { result } of runs) for (const [name, reason] of testbed.missing) result.explain(name, size, reason);
  // The data of the reference servers does not change, that of the gateway does: all responses are checked first.
  const responses: string[] = [];
  for (const { queryCase } of runs) {
    responses.push(await checkResponses(targets, testbed, queryCase.operations(testbed.snapshot)));
  }
  for (const [index, run] of runs.entries()) {
    await targets.get(BARE_HTTP)?.server.call('send', responses[index]);
    await runCase({ schedule, testbed, targets, run, size, start });
  }
}

/** Compares the responses of all targets with those of the gateway. @returns its response to the first operation */
async function checkResponses(
  targets: Targets,
  { gateway }: Testbed,
  operations: readonly Operation[],
): Promise<string> {
  let expected = '';
  // The operations differ only in their variables: the last, one in the middle and the first are enough.
  for (const index of new Set([operations.length - 1, operations.length >> 1, 0])) {
    const operation = operations[index];
    if (operation === undefined) throw new Error('there are no operations');
    expected = await requestText(gateway.url, operation);
    await targets.get(BARE_HTTP)?.server.call('send', expected);
    for (const [name, { server, transport }] of targets)
      expectSameData(name, await REQUEST_TEXT[transport](server.url, operation), expected);
  }
  return expected;
}

type OneCase = {
  readonly schedule: QuerySchedule;
  readonly testbed: Testbed;
  readonly targets: Targets;
  readonly run: CaseRun;
  readonly size: number;
  readonly start: number;
};

async function runCase({ schedule, testbed, targets, run, size, start }: OneCase): Promise<void> {
  const { rounds, seconds, warmUpSeconds } = schedule;
  const { queryCase, result, cpuTime } = run;
  await using load = await startLoadGenerator();
  const operations = queryCase.operations(testbed.snapshot);
  const inOrder = [...targets].map(([name, target]) => ({
    ...target,
    name,
    requests: operations.map((operation) => toRequest(operation, target.transport)),
  }));
  // The first round warms up.
  for (let round = -1; round < rounds; round++) {
    for (const target of orderOf(inOrder, start + Math.max(0, round))) {
      const { name, server, requests } = target;
      await target.prepare?.();
      // No two rounds begin with the same requests: those sent last are still in the caches of documents.
      const first = Math.floor((requests.length * (round + 1)) / (rounds + 1));
      const inTurn = [...requests.slice(first), ...requests.slice(0, first)];
      const options = { ...target, requests: inTurn, testbed, load, seconds: round < 0 ? warmUpSeconds : seconds };
      const measured = await testbed.alone(server, () =>
        queryCase.isRepeated ? runRepeated(options) : runUnique(options),
      );
      if (round < 0) continue;
      result.add(name, size, measured.perSecond);
      cpuTime.add(name, size, measured.cpuMicros);
      run.rounds.push(measured);
    }
  }
}
