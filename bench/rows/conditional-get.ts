import { expectSameData, type Operation } from '../graphql-client.ts';
import { startLoadGenerator } from '../load-generator.ts';
import { GET_HEADERS, pageAfter, toConditionalGet, toPath } from '../operations.ts';
import { orderOf } from '../order.ts';
import { type QuerySchedule, SCHEDULE, scheduleOf, targetsOf } from '../query-benchmark.ts';
import { measure } from '../query-rounds.ts';
import { createResult, type OpenResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { BARE_HTTP, GATEWAY, startHttpTargets } from '../targets.ts';
import { startTestbed } from '../testbed.ts';

const TARGETS = { start: startHttpTargets };

/** A page of 100 pools by GET, requested by a client that has it already. */
export const conditionalGet: Row = { name: 'conditional-get', comparesCheckouts: true, run };

async function run(context: RowContext): Promise<readonly Result[]> {
  const { isComparison } = context;
  const schedule = scheduleOf(context, { ...SCHEDULE, sizes: [1_000] });
  const title = 'A GET with If-None-Match: 100 pools, nothing new';
  const about = 'The page of 100 pools by GET, with the ETag that the server sent before. Each response must be a 304.';
  const head = { sizeUnit: 'pools', sizes: schedule.sizes, samplesPerStart: schedule.rounds } as const;
  const result = createResult({
    ...head,
    title,
    about,
    unit: 'responses/s',
    better: 'more',
    goals: [{ target: GATEWAY, baseline: { target: BARE_HTTP, by: 'ratio' }, bound: 'at least', value: 0.85 }],
  });
  const cpuTime = createResult({
    ...head,
    title: `${title}: CPU time`,
    about: `${about} The CPU time of the server for each response.`,
    unit: 'µs',
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
  // The others do not support it, or are much slower.
  const targets = await targetsOf(context, TARGETS, 'http').start(testbed, (name) => name === BARE_HTTP);
  await using load = await startLoadGenerator();
  const operation = pageAfter(testbed.snapshot, -1);
  const expected = await (await get(testbed.gateway.url, operation)).text();
  await targets.get(BARE_HTTP)?.server.call('send', expected);

  const requests = new Map<string, Buffer>();
  for (const [name, { server }] of targets) {
    const etag = await etagOf(name, server.url, operation, expected);
    requests.set(name, toConditionalGet(operation, etag));
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

/** The ETag of the response. @throws Error if there is none */
async function etagOf(name: string, url: string, operation: Operation, expected: string): Promise<string> {
  const response = await get(url, operation);
  expectSameData(name, await response.text(), expected);
  const etag = response.headers.get('etag');
  if (etag === null) throw new Error(`${name} sends no ETag`);
  return etag;
}

function get(url: string, operation: Operation): Promise<Response> {
  return fetch(new URL(toPath(operation), url), {
    headers: GET_HEADERS,
    signal: AbortSignal.timeout(60_000),
  });
}
