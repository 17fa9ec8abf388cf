import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type RolldownOptions, rolldown } from 'rolldown';

// Writes the package to dist/. docs/decisions/package.md says what is bundled, and why.

const ROOT = import.meta.dirname;
const DIST = join(ROOT, 'dist');
const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Native parts of `ws`, which it uses where they are installed. */
const OPTIONAL = ['bufferutil', 'utf-8-validate'];

/** Leaves OpenTelemetry in a file of its own, which is loaded when traces are on. */
const loadTelemetryLazily = {
  name: 'load-telemetry-lazily',
  resolveId: (id: string) => (id === './spans.ts' ? { id: './opentelemetry.js', external: true } : undefined),
};

/** The packages whose code is in the bundles, by their folders. */
const bundled = new Set<string>();

rmSync(DIST, { recursive: true, force: true });
await bundle('src/index.ts', 'index.js', Object.keys(dependencies));
await bundle('src/opentelemetry/spans.ts', 'opentelemetry.js', Object.keys(dependencies));
// The command shares its graphql with nobody. One file instead of a hundred starts sooner, and `require` does not load the
// parts of Node's own modules that the gateway does not use, such as `fetch`.
await bundle(
  'src/main.ts',
  'main.cjs',
  Object.keys(dependencies).filter((name) => name !== 'graphql'),
);
writeFileSync(join(DIST, 'start.cjs'), startAsCommonJs(), { mode: 0o755 });
cpSync(join(ROOT, 'src/server/pages/graphiql-start.js'), join(DIST, 'graphiql-start.js'));
writeTypes();
writeFileSync(join(DIST, 'third-party-licenses.txt'), licenses());

async function bundle(input: string, file: string, external: readonly string[]): Promise<void> {
  const options: RolldownOptions = {
    input: join(ROOT, input),
    platform: 'node',
    plugins: [loadTelemetryLazily],
    external: (id) => [...external, ...OPTIONAL].some((name) => id === name || id.startsWith(`${name}/`)),
  };
  const { output } = await (await rolldown(options)).write({
    file: join(DIST, file),
    format: file.endsWith('.cjs') ? 'cjs' : 'esm',
    codeSplitting: false,
  });
  for (const path of output.flatMap((chunk) => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []))) {
    const [, folder] = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
    if (folder !== undefined) bundled.add(folder);
  }
}

/** `src/start.js` without the loader of ES modules, which would take a twentieth of each start. */
function startAsCommonJs(): string {
  return readFileSync(join(ROOT, 'src/start.js'), 'utf8')
    .replace(/^import (.*) from 'node:(.*)';$/gm, "const $1 = require('$2');")
    .replaceAll('import.meta.url', "require('url').pathToFileURL(__filename)")
    .replace("import('./main.ts')", "require('./main.cjs')");
}

/** Writes the declarations of the entry and of the files that they import. */
function writeTypes(): void {
  const all = join(DIST, 'all');
  const options = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--outDir', all];
  execFileSync(
    process.execPath,
    [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', ...options],
    {
      cwd: ROOT,
      stdio: 'inherit',
    },
  );
  const pending = ['index.d.ts'];
  for (const path of pending) {
    const text = readFileSync(join(all, path), 'utf8');
    const target = join(DIST, 'types', path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text.replace(/(from '\.[^']*)\.ts'/g, "$1.js'"));
    for (const [, from = ''] of text.matchAll(/from '(\.[^']*)\.ts'/g)) {
      const imported = `${join(dirname(path), from)}.d.ts`;
      if (!pending.includes(imported)) pending.push(imported);
    }
  }
  rmSync(all, { recursive: true });
}

/** The licenses of the packages in the bundles. */
function licenses(): string {
  return [...bundled].sort().map(licenseOf).join('\n');
}

function licenseOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((path) => /^licen[cs]e/i.test(path));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
  return `${'-'.repeat(80)}\n${name} ${version}: ${license}\n\n${text}\n`;
}
