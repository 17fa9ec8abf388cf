#!/usr/bin/env -S node --max-semi-space-size=8 --no-allocation-site-pretenuring
import { readFileSync } from 'node:fs';
import nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

// Every Node since 12.20 can parse and link this file, so that an old Node prints the needed version and not a stack trace.
// Therefore the file has no top-level await and no named import of a function that an old Node lacks. It has no types either:
// Node loads it before the compile cache is on, and stripping types would delay the start.
const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const neededMajor = Number(/\d+/.exec(engines.node));

if (Number.parseInt(process.versions.node, 10) < neededMajor) {
  process.stderr.write(`pdex-gateway needs Node ${neededMajor} or newer; this is Node ${process.versions.node}\n`);
  process.exitCode = 2;
} else {
  // A lookup of a host name occupies a thread. Two names whose server does not respond would hold up all others: of the four threads that
  // Node has by default, lookups get two.
  const { env } = process;
  if (!env['UV_THREADPOOL_SIZE']) env['UV_THREADPOOL_SIZE'] = '16';
  // Node stores compiled code for the next start. `npm ci` runs `--version` once to fill this cache for the first start. The
  // cache applies to files that are loaded after this line. It stays empty if the folder cannot be written.
  nodeModule.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)));
  import('./main.ts');
}
