import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type OutputChunk, type RolldownOptions, rolldown } from 'rolldown';
import { build as buildPages } from 'vite';
import type { Setting } from './src/settings/kinds.ts';
import { SETTINGS } from './src/settings/settings.ts';

// Writes the package to dist/. docs/decisions/package.md says what is bundled, and why.

const ROOT = import.meta.dirname;
const DIST = join(ROOT, 'dist');
const { peerDependencies, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Native parts of `ws`, `pg` and `@redis/client`, which these use where they are installed, and a part of `pg` for another platform. */
const OPTIONAL = ['bufferutil', 'utf-8-validate', 'pg-native', 'pg-cloudflare', '@node-rs/xxhash'];

/** Files of their own, by what imports them: they are loaded when traces are on or sent by gRPC, when a fleet is configured, with the sandbox, and on a terminal. */
const LAZY: Readonly<Record<string, string>> = {
  './spans.ts': './opentelemetry.js',
  './grpc-sender.ts': './otlp-grpc.js',
  './redis-client.ts': './redis.js',
  '../sandbox/sandbox.ts': './sandbox.js',
  'pino-pretty': './pino-pretty.js',
};

const loadLazily = {
  name: 'load-lazily',
  resolveId: (id: string) => (LAZY[id] === undefined ? undefined : { id: LAZY[id], external: true }),
};

/** The types of options, by the kinds of their settings. */
const OPTION_TYPES = {
  text: 'string',
  texts: 'string | readonly string[]',
  list: 'readonly string[]',
  headers: 'Readonly<Record<string, string>>',
  number: 'number',
  boolean: 'boolean',
};

/** The packages whose code is in the bundles, by their folders. */
const bundled = new Set<string>();

rmSync(DIST, { recursive: true, force: true });
const exported = await bundle('src/index.ts', 'library.js', Object.keys(peerDependencies));
writeFileSync(join(DIST, 'index.js'), libraryEntry(exported));
await bundle('src/tracing/spans.ts', 'opentelemetry.js');
await bundle('src/tracing/grpc-sender.ts', 'otlp-grpc.js');
// The library asks for OpenTelemetry only when its own metrics are on.
await bundle('src/fleet/redis-client.ts', 'redis.js', ['@opentelemetry/api']);
await bundle('src/sandbox/sandbox.ts', 'sandbox.js');
await bundle('src/history/worker.ts', 'history-worker.js');
await bundle('node_modules/pino-pretty/index.js', 'pino-pretty.js');
// The command shares its graphql with nobody. One file instead of a hundred starts sooner, and `require` does not load the
// parts of Node's own modules that the gateway does not use, such as `fetch`.
await bundle('src/main.ts', 'main.cjs');
writeFileSync(join(DIST, 'start.cjs'), startAsCommonJs(), { mode: 0o755 });
await buildExplorer();
writeTypes();
writeFileSync(join(DIST, 'third-party-licenses.txt'), licenses());

/** Writes a bundle. @returns what it exports */
async function bundle(input: string, file: string, external: readonly string[] = []): Promise<readonly string[]> {
  const options: RolldownOptions = {
    input: join(ROOT, input),
    platform: 'node',
    plugins: [loadLazily],
    external: (id) => [...external, ...OPTIONAL].some((name) => id === name || id.startsWith(`${name}/`)),
  };
  const { output } = await (await rolldown(options)).write({
    file: join(DIST, file),
    format: file.endsWith('.cjs') ? 'cjs' : 'esm',
    codeSplitting: false,
  });
  addBundled(output.flatMap((file) => (file.type === 'chunk' ? [file] : [])));
  return output[0].exports;
}

/** Notes whose code is in the chunks. */
function addBundled(chunks: readonly Pick<OutputChunk, 'modules'>[]): void {
  for (const path of chunks.flatMap(({ modules }) => Object.keys(modules))) {
    const [, folder] = /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
    if (folder !== undefined) bundled.add(folder);
  }
}

/** Writes the pages of the explorer, and that of GraphiQL. `explorer/vite.config.ts` says how. */
async function buildExplorer(): Promise<void> {
  const built = await buildPages({
    root: join(ROOT, 'explorer'),
    logLevel: 'error',
    build: { outDir: join(DIST, 'explorer'), emptyOutDir: true },
  });
  for (const result of [built].flat()) {
    if (!('output' in result)) throw new Error('Vite watches instead of building');
    addBundled(result.output.flatMap((file) => (file.type === 'chunk' ? [file] : [])));
  }
  bundled.add(join(ROOT, 'node_modules/@graphql-yoga/render-graphiql'));
}

/** `src/start.js` without the loader of ES modules, which would take a twentieth of each start. */
function startAsCommonJs(): string {
  return readFileSync(join(ROOT, 'src/start.js'), 'utf8')
    .replace(/^import (.*) from 'node:(.*)';$/gm, "const $1 = require('$2');")
    .replaceAll('import.meta.url', "require('url').pathToFileURL(__filename)")
    .replace("import('./main.ts')", "require('./main.cjs')");
}

/**
 * The entry of the library. Every Node since 12.20 can link it, so that an old one, or an old `graphql`, throws which version is
 * needed. It has no top-level await, so that `require` takes it too.
 */
function libraryEntry(names: readonly string[]): string {
  const majorIn = (range: string) => /\d+/.exec(range)?.[0];
  const [node, graphql] = [majorIn(engines.node), majorIn(peerDependencies.graphql)];
  return `import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
if (Number.parseInt(process.versions.node, 10) < ${node})
  throw new Error(\`pdex-gateway needs Node ${node} or newer; this is Node \${process.versions.node}\`);
const { version } = require('graphql');
if (Number.parseInt(version, 10) !== ${graphql})
  throw new Error(\`pdex-gateway needs graphql ${peerDependencies.graphql}; this program has graphql \${version}\`);
export const { ${names.join(', ')} } = require('./library.js');
`;
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
  // The source derives this type from the declaration of settings, where an editor finds no descriptions.
  writeFileSync(join(all, 'library/setting-options.d.ts'), optionsType());
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

/** The declaration of the options of the library, each with its description. */
function optionsType(): string {
  const options = new Map(Object.values<Setting>(SETTINGS).map((setting) => [setting.variable, setting.option]));
  const entries = Object.values<Setting>(SETTINGS).map((setting) => {
    const { kind = 'text' } = setting;
    const byDefault = setting.optionDefault ?? setting.default;
    const types = typeof kind === 'string' ? [OPTION_TYPES[kind]] : kind.map((word) => `'${word}'`);
    const meaning = setting.meaning.replace(
      /`([A-Z_]+)`/g,
      (whole, name) => `\`${options.get(name) ?? whole.slice(1, -1)}\``,
    );
    const suffix = byDefault === '' ? '' : ` Default: \`${byDefault}\`.`;
    return `  /** ${meaning}${suffix} */\n  readonly ${setting.option}?: ${[...types, 'undefined'].join(' | ')};\n`;
  });
  const docstring =
    '/** The settings as options. Each is checked as on the command line. An option that is `undefined` is not set. */\n';
  return `${docstring}export type SettingOptions = {\n${entries.join('')}};\n`;
}

/** The licenses of the packages in the bundles, with the notices that some of them require. */
function licenses(): string {
  return [...bundled].sort().map(licenseOf).join('\n');
}

function licenseOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = [/^licen[cs]e/i, /^notice/i].flatMap(
    (name) => readdirSync(folder).find((path) => name.test(path)) ?? [],
  );
  const text = files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
  return `${'-'.repeat(80)}\n${name} ${version}: ${license}\n\n${text}\n`;
}
