#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import { type Arguments, readArguments, usage } from './arguments.ts';
import type { Finding } from './finding.ts';
import { describeMachine } from './machine.ts';
import { toMarkdown } from './report.ts';
import type { Row } from './row.ts';
import { conditionalGet } from './rows/conditional-get.ts';
import { hostile } from './rows/hostile.ts';
import { largeState } from './rows/large-state.ts';
import { neverSeen } from './rows/never-seen.ts';
import { pastHeights } from './rows/past-heights.ts';
import { repeated } from './rows/repeated.ts';
import { start } from './rows/start.ts';
import { distinctOperations, subscribers } from './rows/subscribers.ts';
import { upstreamCalls } from './rows/upstream-calls.ts';
import { websocketQueries } from './rows/websocket-queries.ts';

const ROWS: readonly Row[] = [
  repeated,
  neverSeen,
  websocketQueries,
  conditionalGet,
  subscribers,
  distinctOperations,
  largeState,
  upstreamCalls,
  start,
  pastHeights,
  hostile,
];
const names = ROWS.map(({ name }) => name);

// What was started, and the folders that were made, go with it.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const wanted = readArgumentsOrExit();
if (wanted === undefined) process.stdout.write(usage(names));
else process.exit(await bench(wanted));

function readArgumentsOrExit(): Arguments | undefined {
  try {
    return readArguments(process.argv.slice(2), names);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage(names)}`);
    process.exit(2);
  }
}

/** @returns 1 where a row failed: its figures are missing, and the others are still told */
async function bench({ quick, only, report }: Arguments): Promise<number> {
  const machine = describeMachine();
  const startedAt = performance.now();
  const tell = (text: string) =>
    void process.stdout.write(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(5)} s  ${text}\n`);
  const findings: Finding[] = [];
  let failed = 0;
  for (const { name, run } of ROWS) {
    if (only.length > 0 && !only.includes(name)) continue;
    tell(`${name} begins`);
    try {
      findings.push(...(await run({ quick, tell })));
    } catch (error) {
      failed += 1;
      tell(`${name} FAILED: ${error instanceof Error ? error.stack : error}`);
    }
  }
  const markdown = toMarkdown(findings, machine, quick);
  process.stdout.write(`\n${markdown}`);
  if (report !== '') writeFileSync(report, markdown);
  return failed === 0 ? 0 : 1;
}
