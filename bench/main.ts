#!/usr/bin/env node
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Arguments, readArguments, usage } from './arguments.ts';
import { toComparison } from './comparison.ts';
import type { Checkout } from './gateway.ts';
import { describeMachine } from './machine.ts';
import { toReport } from './report.ts';
import type { Result } from './result.ts';
import type { Row } from './row.ts';
import { change } from './rows/change.ts';
import { conditionalGet } from './rows/conditional-get.ts';
import { explorer } from './rows/explorer.ts';
import { fleet } from './rows/fleet.ts';
import { history } from './rows/history.ts';
import { hostile } from './rows/hostile.ts';
import { largeState } from './rows/large-state.ts';
import { neverSeen } from './rows/never-seen.ts';
import { pastHeights } from './rows/past-heights.ts';
import { push } from './rows/push.ts';
import { quote } from './rows/quote.ts';
import { repeated } from './rows/repeated.ts';
import { rest } from './rows/rest.ts';
import { start } from './rows/start.ts';
import { distinctOperations, subscribers } from './rows/subscribers.ts';
import { tracing } from './rows/tracing.ts';
import { upstreamCalls } from './rows/upstream-calls.ts';
import { websocketQueries } from './rows/websocket-queries.ts';
import { BEFORE } from './targets.ts';

const ROWS: readonly Row[] = [
  repeated,
  neverSeen,
  websocketQueries,
  conditionalGet,
  rest,
  subscribers,
  distinctOperations,
  largeState,
  upstreamCalls,
  start,
  pastHeights,
  hostile,
  push,
  tracing,
  quote,
  history,
  change,
  fleet,
  explorer,
];
const names = ROWS.map(({ name }) => name);
const compared = ROWS.filter(({ comparesCheckouts }) => comparesCheckouts).map(({ name }) => name);

// The handlers of `exit` stop the processes and delete the temporary folders.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const options = readArgumentsOrExit();
if (options === undefined) process.stdout.write(usage(names, compared));
else process.exit(await bench(options));

function readArgumentsOrExit(): Arguments | undefined {
  try {
    return readArguments(process.argv.slice(2), names);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage(names, compared)}`);
    process.exit(2);
  }
}

/** @returns 1 if a row failed: the report has the results of the others */
async function bench({ quick, only, before, report }: Arguments): Promise<number> {
  const isComparison = before !== undefined;
  const checkouts = checkoutsOf(before);
  const machine = describeMachine(checkouts, isComparison);
  const startedAt = performance.now();
  const log = (text: string) =>
    void process.stdout.write(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(5)} s  ${text}\n`);
  const results: Result[] = [];
  let failed = 0;
  for (const { name, comparesCheckouts, run } of ROWS) {
    if (only.length > 0 && !only.includes(name)) continue;
    if (isComparison && !comparesCheckouts) continue;
    log(`${name} begins`);
    try {
      results.push(...(await run({ quick, checkouts, isComparison, log })));
    } catch (error) {
      failed += 1;
      log(`${name} FAILED: ${error instanceof Error ? error.stack : error}`);
    }
  }
  const write = isComparison ? toComparison : toReport;
  const markdown = write(results, machine, quick);
  process.stdout.write(`\n${markdown}`);
  if (report !== '') writeFileSync(report, markdown);
  return failed === 0 ? 0 : 1;
}

function checkoutsOf(before: string | undefined): readonly Checkout[] {
  const after = { suffix: '', folder: fileURLToPath(new URL('..', import.meta.url)) };
  if (before === undefined) return [after];
  // A gateway that does not know the history yet records nothing, so the other one does not either.
  const env: Record<string, string> = existsSync(resolve(before, 'src/history')) ? {} : { HISTORY_DATABASE: 'off' };
  return [
    { suffix: BEFORE, folder: resolve(before) },
    { ...after, env },
  ];
}
