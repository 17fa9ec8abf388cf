import { expectSameData } from '../graphql-client.ts';
import { startLoadGenerator } from '../load-generator.ts';
import { GET_HEADERS, type Operation, pageAfter, toConditionalGet, toPath } from '../operations.ts';
import { orderOf } from '../order.ts';
import { type QuerySchedule, scheduleOf, targetsOf } from '../query-benchmark.ts';
import { measure } from '../query-rounds.ts';
import { createResult, type OpenResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { BARE_HTTP, GATEWAY, startHttpTargets } from '../targets.ts';
import { startTestbed } from '../testbed.ts';

const SCHEDULE: QuerySchedule = { sizes: [100, 1_000, 10_000], starts: 3, rounds: 3, seconds: 1, warmUpSeconds: 1 };
const TARGETS = { baseline: BARE_HTTP, start: startHttpTargets };

/** A page of 100 pools by GET, requested by a client that has it already. */
export const conditionalGet: Row = { name: 'conditional-get', comparesCheckouts: true, run };

async function run(context: RowContext): Promise<readonly Result[]> {
  const { isComparison } = context;
  const schedule = scheduleOf(context, SCHEDULE);
  const { baseline } = targetsOf(context, TARGETS, 'http');
  const title = 'A GET with If-None-Match: 100 pools, nothing new';
  const about =
    'The page of 100 pools by GET, with the ETag that the server sent before. Each response must be a 304. A server that sends no ETag, or responds in full all the same, does not support it.';
  const head = { sizeUnit: 'pools', sizes: schedule.sizes, baseline, samplesPerStart: schedule.rounds } as const;
  const result = createResult({
    ...head,
    title,
    about,
    unit: 'responses per second',
    better: 'more',
    goals: [{ target: GATEWAY, baseline: { target: BARE_HTTP, by: 'ratio' }, bound: 'at least', value: 0.85 }],
  });
  const cpuTime = createResult({
    ...head,
    title: `${title}: CPU time`,
    about: `${about} The CPU time of the server for each response.`,
    unit: 'microseconds',
    better: 'less',
    goals: [],
  });
  for (const pools of schedule.sizes) {
    for (let start = 0; start < schedule.starts; start++) {
      await runStart({ context, schedule, result, cpuTime, pools, start });
      context.log(`${title}, ${pools} pools: start ${start + 1} of ${schedule.starts} done`);
    }
  }
  return isComparison ? [result, cpuTime] : [result];
}

type Start = {
  readonly context: RowContext;
  readonly schedule: QuerySchedule;
  readonly result: OpenResult;
  readonly cpuTime: OpenResult;
  readonly pools: number;
  readonly start: number;
};

async function runStart({ context, schedule, result, cpuTime, pools, start }: Start): Promise<void> {
  const { rounds, seconds, warmUpSeconds } = schedule;
  await using testbed = await startTestbed(context.checkouts, { pools });
  // Only the goal's targets are measured again: the others do not support it, or are much slower.
  const isIncluded = (name: string) => start === 0 || name === BARE_HTTP;
  const targets = await targetsOf(context, TARGETS, 'http').start(testbed, isIncluded);
  await using load = await startLoadGenerator();
  const operation = pageAfter(testbed.snapshot, -1);
  const expected = await (await get(testbed.gateway.url, operation)).text();
  await targets.get(BARE_HTTP)?.server.call('send', expected);

  const requests = new Map<string, Buffer>();
  for (const [name, { server }] of targets) {
    const etag = await etagOf(name, server.url, operation, expected);
    if (etag === undefined) result.explain(name, pools, 'not supported');
    else requests.set(name, toConditionalGet(operation, etag));
  }
  // The first round warms up.
  for (let round = -1; round < rounds; round++) {
    for (const [name, request] of orderOf([...requests], start + Math.max(0, round))) {
      const target = targets.get(name);
      if (!target) continue;
      const options = { ...target, load, requests: [request], expectedStatus: 304 };
      const { perSecond, cpuMicros } = await testbed.alone(target.server, () =>
        measure({ ...options, seconds: round < 0 ? warmUpSeconds : seconds }),
      );
      if (round < 0) continue;
      result.add(name, pools, perSecond);
      cpuTime.add(name, pools, cpuMicros);
    }
  }
}

/** The ETag of the response; `undefined` if there is none, or if a request with it does not get a 304. */
async function etagOf(name: string, url: string, operation: Operation, expected: string): Promise<string | undefined> {
  const response = await get(url, operation);
  expectSameData(name, await response.text(), expected);
  const etag = response.headers.get('etag');
  if (etag === null) return undefined;
  const conditional = await get(url, operation, { 'if-none-match': etag });
  await conditional.text();
  return conditional.status === 304 ? etag : undefined;
}

function get(url: string, operation: Operation, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(new URL(toPath(operation), url), {
    headers: { ...GET_HEADERS, ...headers },
    signal: AbortSignal.timeout(60_000),
  });
}
