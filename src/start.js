#!/usr/bin/env -S node --max-semi-space-size=8 --no-allocation-site-pretenuring
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// What Node makes of our files and of packages is kept for the next start; `npm ci` starts once, for the version, so that
// the first start has it too. It is looked for as a file is loaded, so all others are loaded after this. Where the folder
// cannot be written, nothing is kept. Without types, because nothing is found yet when this file is loaded, and stripping
// them would take a twentieth of a start.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)));
await import('./main.ts');
