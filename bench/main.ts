#!/usr/bin/env node
import { type Arguments, readArguments, usage } from './arguments.ts';
import { openCheckouts } from './checkouts.ts';
import { describeMachine } from './machine.ts';
import { toComparison } from './report/comparison.ts';
import { writeReport } from './report/files.ts';
import { toPage } from './report/page.ts';
import type { Run } from './report/run.ts';
import type { Row } from './row.ts';
import { change } from './rows/change.ts';
import { conditionalGet } from './rows/conditional-get.ts';
import { explorer } from './rows/explorer.ts';
import { fleet } from './rows/fleet.ts';
import { history } from './rows/history.ts';
import { hostile } from './rows/hostile.ts';
import { largeState, v3State } from './rows/large-state.ts';
import { neverSeen } from './rows/never-seen.ts';
import { newDocuments } from './rows/new-documents.ts';
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

const ROWS: readonly Row[] = [
  repeated,
  neverSeen,
  newDocuments,
  websocketQueries,
  conditionalGet,
  rest,
  subscribers,
  distinctOperations,
  largeState,
  v3State,
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

/** Runs the rows, and reports. @returns 1 if a row failed: the report has the results of the others */
async function bench({ quick, rows: wanted, before, output }: Arguments): Promise<number> {
  const startedAt = performance.now();
  const seconds = () => (performance.now() - startedAt) / 1_000;
  const log = (text: string) => void process.stdout.write(`${seconds().toFixed(0).padStart(5)} s  ${text}\n`);
  const isComparison = before !== undefined;
  const checkouts = openCheckouts(before, log);
  const machine = describeMachine(checkouts, isComparison);
  const rows: Run['rows'][number][] = [];
  const failures: Run['failures'][number][] = [];
  for (const { name, comparesCheckouts, run } of ROWS) {
    if (!wanted.includes(name) || (isComparison && !comparesCheckouts)) continue;
    log(`${name} begins`);
    try {
      rows.push({ name, results: await run({ quick, checkouts, isComparison, log }) });
    } catch (error) {
      const { message, stack } = error instanceof Error ? error : new Error(String(error));
      failures.push({ name, reason: message.split('\n')[0] ?? '' });
      log(`${name} FAILED: ${stack}`);
    }
  }
  const command = ['npm run bench', ...(process.argv.length > 2 ? ['--'] : []), ...process.argv.slice(2)].join(' ');
  const date = new Date().toISOString().slice(0, 10);
  const run: Run = { command, date, minutes: Math.ceil(seconds() / 60), machine, rows, failures };
  const page = isComparison ? toComparison(run) : toPage(run);
  process.stdout.write(`\n${page}`);
  if (output !== undefined) writeReport(output, page, run);
  return failures.length === 0 ? 0 : 1;
}
