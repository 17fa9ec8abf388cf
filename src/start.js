#!/usr/bin/env -S node --max-semi-space-size=8 --no-allocation-site-pretenuring
import { readFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// Every Node since 12.20 can parse and link this file, so that an old one prints which Node is needed instead of a stack:
// no top-level await, and no named import of a function that it lacks. No types either: the compile cache is not on yet
// when Node loads this file, and stripping types would take a twentieth of a start.
const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const neededMajor = Number(/\d+/.exec(engines.node));

if (Number.parseInt(process.versions.node, 10) < neededMajor) {
  process.stderr.write(`pdex-gateway needs Node ${neededMajor} or newer; this is Node ${process.versions.node}\n`);
  process.exitCode = 1;
} else {
  // Node keeps what it compiles for the next start; `npm ci` starts once, for the version, so that the first start has it
  // too. The cache only serves files that are loaded after this. Where the folder cannot be written, nothing is kept.
  module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)));
  import('./main.ts');
}
