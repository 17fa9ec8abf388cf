#!/usr/bin/env node
import { writeFileSync } from 'node:fs';
import { hasRedis } from '../test/support/redis.ts';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { fleetToMarkdown, hasFleetPassed } from './fleet/report.ts';
import { runFleet } from './fleet/run.ts';
import { isPassed, toMarkdown } from './report.ts';
import { run } from './run.ts';

const args = readArgumentsOrExit();
if (args === undefined) process.stdout.write(USAGE);
else await soak(args);

function readArgumentsOrExit(): Arguments | undefined {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function soak(args: Arguments): Promise<void> {
  const { minutes, seed, load, replicas, exchange, report } = args;
  const print = (text: string) => void process.stdout.write(`${text}\n`);
  const interrupted = new AbortController();
  let interruptedAt = 0;
  process.on('SIGINT', () => {
    // npm forwards a signal that the terminal has already sent. Only a later one stops the run immediately.
    if (interrupted.signal.aborted && performance.now() - interruptedAt > 1_000) process.exit(1);
    if (!interrupted.signal.aborted) interruptedAt = performance.now();
    interrupted.abort();
  });
  if (replicas > 1 && !hasRedis) {
    process.stderr.write('A fleet needs redis-server, which is not installed.\n');
    process.exit(2);
  }
  print(
    `running for ${minutes} minutes with seed ${seed}, load ${load} and exchange ${exchange}; Ctrl-C ends it early`,
  );

  const { markdown, passed } = replicas > 1 ? await soakFleet() : await soakOne();
  print(markdown);
  if (report !== undefined) writeFileSync(report, markdown);
  process.exit(passed ? 0 : 1);

  async function soakOne() {
    const result = await run(args, interrupted.signal, print);
    return { markdown: toMarkdown(result), passed: isPassed(result) };
  }

  async function soakFleet() {
    const result = await runFleet(args, interrupted.signal, print);
    return { markdown: fleetToMarkdown(result), passed: hasFleetPassed(result) };
  }
}
