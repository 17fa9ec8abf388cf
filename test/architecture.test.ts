import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join, matchesGlob, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BROWSERS, DATABASES, PROCESSES } from '../vitest.config.ts';
import { findEarlyUses } from './support/early-uses.ts';

type Import = { readonly from: string; readonly isType: boolean };
type SourceFile = { readonly path: string; readonly text: string; readonly imports: readonly Import[] };

const ROOT = join(import.meta.dirname, '..');

const IMPORT = /^(import|export)\s(type\s)?(?:([^'"`;]*?)\sfrom\s)?'([^']+)';$/gms;
const EXPORT = /^export (?:async )?(?:abstract )?(?:function|const|class|type) ([A-Za-z0-9_]+)/gm;
const IMPORT_CALL = /\bimport\(\s*'([^']+)'\s*\)/g;

/** What a file imports, by statement or by call; an import all of whose names are types is one of types. */
function importsOf(text: string): Import[] {
  const statements = [...text.matchAll(IMPORT)].map(([, , type, names = '', from = '']) => ({
    from,
    isType: type !== undefined || /^\{(\s*type\s[^,}]*,?)+\s*\}$/.test(names),
  }));
  const calls = [...text.matchAll(IMPORT_CALL)].map(([, from = '']) => ({ from, isType: false }));
  return [...statements, ...calls];
}

function readSources(pattern: string): readonly SourceFile[] {
  return globSync(pattern, { cwd: ROOT })
    .sort()
    .map((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      return { path, text, imports: importsOf(text) };
    });
}

const sources = readSources('src/**/*.ts');
const soak = readSources('soak/**/*.ts');
const bench = readSources('bench/{*,load/*,reference-servers/*,report/*,rows/*}.ts');

/** The part of the gateway that a file belongs to: its folder in src, or its own name. */
function partOf(path: string): string {
  const [, part = ''] = path.split('/');
  return basename(part, '.ts');
}

/** The part of the server that a file belongs to: its folder in src/server, or its own name. */
function serverPartOf(path: string): string {
  const [, , part = ''] = path.split('/');
  return basename(part, '.ts');
}

const isOurs = (from: string) => from.startsWith('.');
const packageOf = (from: string) => from.split('/', from.startsWith('@') ? 2 : 1).join('/');

/** What each part may import of ours; `type x` is what it may take types of. */
const ARROWS: Record<string, readonly string[]> = {
  domain: [],
  errors: ['domain'],
  sandbox: [],
  turns: [],
  upstream: ['turns', 'domain', 'errors', 'type tracing'],
  live: ['turns', 'upstream', 'domain', 'errors', 'type tracing'],
  fleet: ['turns', 'live', 'upstream', 'domain', 'errors', 'type tracing'],
  history: ['turns', 'domain', 'errors', 'type live'],
  loaders: ['turns', 'history', 'live', 'upstream', 'domain', 'errors'],
  graphql: ['turns', 'loaders', 'domain', 'errors', 'type fleet', 'type live', 'type upstream'],
  rest: ['turns', 'loaders', 'domain', 'errors', 'type live', 'type upstream'],
  server: [
    'turns',
    'graphql',
    'rest',
    'live',
    'domain',
    'errors',
    'logging',
    'tracing',
    'type history',
    'type loaders',
    'type fleet',
    'type upstream',
  ],
  settings: ['history', 'server', 'graphql', 'domain', 'logging', 'tracing'],
  tracing: ['upstream', 'type logging'],
  logging: ['errors', 'type domain', 'type fleet', 'type history', 'type live', 'type upstream'],
};
/** What each folder or file of the server may import of the others: none imports one that is assembled of it. */
const SERVER_ARROWS: Record<string, readonly string[]> = {
  requests: [],
  metrics: [],
  clients: ['metrics', 'requests'],
  operations: ['clients', 'metrics', 'requests'],
  'access-log': ['clients', 'operations', 'requests'],
  'transport-options': ['clients', 'metrics', 'operations', 'requests'],
  pages: ['metrics', 'requests'],
  yoga: ['clients', 'metrics', 'operations', 'requests', 'transport-options'],
  websocket: ['access-log', 'clients', 'metrics', 'operations', 'requests', 'transport-options'],
  http: ['access-log', 'clients', 'metrics', 'operations', 'pages', 'requests', 'transport-options'],
  stopping: ['http', 'websocket'],
};

const IMPORT_EVERYTHING = ['compose', 'index', 'library', 'main'];

describe('which part knows which', () => {
  test('every part has its arrows', () => {
    const parts = new Set(sources.map(({ path }) => partOf(path)));
    expect([...parts].sort()).toEqual([...Object.keys(ARROWS), ...IMPORT_EVERYTHING].sort());
  });

  test.each(Object.entries(ARROWS))('%s imports of ours only: %j', (part, allowed) => {
    const files = sources.filter(({ path }) => partOf(path) === part);
    const strangers = files.flatMap(({ path, imports }) =>
      imports
        .filter(({ from }) => isOurs(from))
        .map(({ from, isType }) => ({ to: partOf(relative('.', join(dirname(path), from))), from, isType }))
        .filter(({ to, isType }) => to !== part && !allowed.includes(to) && !(isType && allowed.includes(`type ${to}`)))
        .map(({ from, isType }) => `${path} imports ${isType ? 'types of ' : ''}${from}`),
    );
    expect(files.length).toBeGreaterThan(0);
    expect(strangers).toEqual([]);
  });

  test('every part of the server has its arrows', () => {
    const parts = new Set(
      sources.filter(({ path }) => partOf(path) === 'server').map(({ path }) => serverPartOf(path)),
    );
    expect([...parts].sort()).toEqual([...Object.keys(SERVER_ARROWS), 'gateway-server'].sort());
  });

  test.each(Object.entries(SERVER_ARROWS))('server/%s imports of the server only: %j', (part, allowed) => {
    const strangers = sources
      .filter(({ path }) => path.startsWith('src/server/') && serverPartOf(path) === part)
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ from }) => isOurs(from))
          .map(({ from }) => join(dirname(path), from))
          .filter((to) => to.startsWith('src/server/') && ![part, ...allowed].includes(serverPartOf(to)))
          .map((to) => `${path} imports ${to}`),
      );
    expect(strangers).toEqual([]);
  });

  test('the domain has no input and no output: of Node it takes hashing alone, of packages a priority queue', () => {
    const taken = sources
      .filter(({ path }) => partOf(path) === 'domain')
      .flatMap(({ imports }) => imports.map(({ from }) => from).filter((from) => !isOurs(from)));
    expect(new Set(taken)).toEqual(new Set(['node:crypto', 'tinyqueue']));
  });

  test('the domain has no clock, no randomness and no caches by identity', () => {
    const readers = sources.filter(
      ({ path, text }) =>
        partOf(path) === 'domain' &&
        /\b(Date\.now|new Date\(\)|Math\.random|setTimeout|process\.|WeakMap|WeakRef)/.test(text),
    );
    expect(readers.map(({ path }) => path)).toEqual([]);
  });

  test('only upstream and rest know how the upstreams spell their fields', () => {
    const spelling =
      /Token[12](PoolValue|IDStr)|ValidatiorsIdx|PDEPoolPairs|BestBlocks|ticker_id|pool_id|base_currency/;
    // A description of the schema may tell a reader what the node calls a thing. The REST API has the shapes of the host.
    const spellers = sources.filter(
      ({ path, text }) => spelling.test(text) && !['upstream', 'sandbox', 'graphql', 'rest'].includes(partOf(path)),
    );
    expect(spellers.map(({ path }) => path)).toEqual([]);
  });

  test('no imports form a circle, also not of types, nor in soak or bench', () => {
    const graph = new Map(
      [...sources, ...soak, ...bench].map(({ path, imports }) => [
        path,
        imports.filter(({ from }) => isOurs(from)).map(({ from }) => join(dirname(path), from)),
      ]),
    );
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (path: string, trail: readonly string[]): void => {
      if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
      if (done.has(path) || trail.includes(path)) return;
      for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
      done.add(path);
    };
    for (const path of graph.keys()) visit(path, []);
    expect(circles).toEqual([]);
  });
});

describe('what does the soak take from the source', () => {
  test('the sandbox alone, and a Redis of the tests: it would otherwise hold the gateway against itself', () => {
    const taken = soak.flatMap(({ path, imports }) =>
      imports.filter(({ from }) => isOurs(from)).map(({ from }) => join(dirname(path), from)),
    );
    expect(taken.filter((path) => !/^((soak|src\/sandbox)\/|test\/support\/(ports|redis)\.ts)/.test(path))).toEqual([]);
    expect(taken).toContain('src/sandbox/sandbox.ts');
  });
});

describe('what does the bench take from the source', () => {
  test('the sandbox, the store of the history, and the gateway only as a process', () => {
    const taken = bench.flatMap(({ path, imports }) =>
      imports.filter(({ from }) => isOurs(from)).map(({ from }) => join(dirname(path), from)),
    );
    const ours = [
      'src/sandbox/sandbox.ts',
      'src/history/store-client.ts',
      'src/history/store.ts',
      'src/domain/exchange.ts',
    ];
    expect(new Set(taken.filter((path) => !path.startsWith('bench/')))).toEqual(new Set(ours));
  });
});

describe('what does the source take from outside', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

  test('modules of Node by their full names, dependencies, and packages that the build bundles', () => {
    const packages = BUNDLED;
    const known = new Set([...packages, ...builtinModules.map((name) => `node:${name.replace('node:', '')}`)]);
    const strangers = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ from }) => !isOurs(from) && !known.has(from) && !known.has(packageOf(from)))
        .map(({ from }) => `${path} imports ${from}`),
    );
    expect(strangers).toEqual([]);
  });

  test('every declared package is used, and what is bundled is not installed with the package', () => {
    const used = new Set(sources.flatMap(({ imports }) => imports.map(({ from }) => packageOf(from))));
    expect(BUNDLED.filter((name) => !used.has(name))).toEqual([]);
    expect(BUNDLED.filter((name) => !(name in devDependencies))).toEqual([]);
    expect(dependencies).toBeUndefined();
  });

  test('no package for the sandbox, which runs from its folder alone in deploy/compose.yaml', () => {
    const ofSandbox = sources.filter(({ path }) => partOf(path) === 'sandbox');
    const packages = ofSandbox.flatMap(({ imports }) =>
      imports.map(({ from }) => from).filter((from) => !isOurs(from)),
    );
    expect(packages.filter((from) => !from.startsWith('node:'))).toEqual([]);
  });

  test('the code of traces in one folder, which is loaded only when they are on', () => {
    const isLazy = (path: string) => path.startsWith('src/tracing/') && !EAGER_TRACING.includes(path);
    const importers = sources
      .filter(({ path }) => !isLazy(path))
      .flatMap(({ path, imports }) =>
        imports
          .filter(({ from, isType }) => !isType && isLazy(join(dirname(path), from)))
          .map(({ from }) => `${path}: ${from}`),
      );
    // A dynamic import.
    expect(importers).toEqual([`${TRACING_START}: ./spans.ts`, `${TRACING_START}: ./grpc-sender.ts`]);
    const start = sources.find(({ path }) => path === TRACING_START);
    const statements = start?.text.matchAll(/^import (?!type ).*'(\.\/.*)';$/gm) ?? [];
    expect([...statements].map(([, from]) => from)).toEqual([]);
    const outside = sources
      .filter(({ path }) => !path.startsWith('src/tracing/'))
      .flatMap(({ path, imports }) => imports.map(({ from }) => ({ path, to: join(dirname(path), from) })))
      .filter(({ to }) => to.startsWith('src/tracing/') && to !== 'src/tracing/tracing.ts');
    expect(outside).toEqual([{ path: 'src/compose/app.ts', to: TRACING_START }]);
    const users = sources.filter(({ imports }) => imports.some(({ from }) => /^@(opentelemetry|grpc)\//.test(from)));
    expect(users.map(({ path }) => path).filter((path) => !isLazy(path))).toEqual([]);
  });

  test('the sandbox only dynamically, so that a gateway with upstreams does not load it', () => {
    const importers = sources.filter(
      ({ path, text }) => !path.startsWith('src/sandbox/') && /^import (?!type )[^;]*\/sandbox\/[^;]*;$/m.test(text),
    );
    expect(importers.map(({ path }) => path)).toEqual([]);
    const dynamic = sources.filter(({ text }) => text.includes("import('../sandbox/sandbox.ts')"));
    expect(dynamic.map(({ path }) => path).toSorted()).toEqual(['src/compose/app.ts', 'src/library/sandbox.ts']);
  });

  test('the library of Redis in one file, which is loaded only when a fleet is configured', () => {
    const users = sources.filter(({ imports }) =>
      imports.some(({ from, isType }) => from === '@redis/client' && !isType),
    );
    expect(users.map(({ path }) => path)).toEqual(['src/fleet/redis-client.ts']);
    const statements = sources.flatMap(({ text }) => [
      ...text.matchAll(/^import (type )?[^;]*\/redis-client\.ts';$/gm),
    ]);
    expect(new Set(statements.map(([, type]) => type))).toEqual(new Set(['type ']));
  });

  test('nothing of the tests', () => {
    const testers = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ from }) => /vitest|fast-check|\.test\.|(^|\/)test\//.test(from))
        .map(({ from }) => `${path}: ${from}`),
    );
    expect(testers).toEqual([]);
  });

  test('every file of ours by a path that is there, with its ending', () => {
    const paths = new Set(sources.map(({ path }) => path));
    const lost = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ from }) => isOurs(from) && !paths.has(join(dirname(path), from)))
        .map(({ from }) => `${path}: ${from}`),
    );
    expect(lost).toEqual([]);
  });
});

describe('which tests run one file at a time', () => {
  const files = readSources('{test,explorer/test,soak}/**/*.ts');
  const byPath = new Map(files.map((file) => [file.path, file]));

  /** Whether a file, or one of those that it imports outside of the source, can start a process. */
  function startsProcesses(path: string, seen = new Set<string>()): boolean {
    const file = byPath.get(path);
    if (file === undefined || seen.has(path)) return false;
    seen.add(path);
    return file.imports
      .filter(({ isType }) => !isType)
      .some(({ from }) => STARTS_PROCESSES.has(from) || startsProcesses(join(dirname(path), from), seen));
  }

  test('all that start processes, browsers, Redis or PostgreSQL', () => {
    const starting = files.filter(({ path }) => path.endsWith('.test.ts') && startsProcesses(path));
    expect(starting.length).toBeGreaterThan(40);
    const beside = starting.filter(
      ({ path }) => ![...PROCESSES, ...DATABASES, ...BROWSERS].some((pattern) => matchesGlob(path, pattern)),
    );
    expect(beside.map(({ path }) => path)).toEqual([]);
  });
});

describe('how is the source written', () => {
  const written = [...sources, ...soak, ...bench];

  test('without exports that no other file uses', () => {
    const files = [...written, ...readSources('{test,explorer/test}/**/*.ts'), ...readSources('*.ts')];
    const exported = sources.flatMap(({ path, text }) =>
      [...text.matchAll(EXPORT)].map(([, name = '']) => ({ path, name })),
    );
    const unused = exported.filter(
      ({ path, name }) => !files.some((other) => other.path !== path && new RegExp(`\\b${name}\\b`).test(other.text)),
    );
    expect(exported.length).toBeGreaterThan(1_000);
    expect(unused.map(({ path, name }) => `${path}: ${name}`)).toEqual([]);
  });

  test('without types that are switched off: no `as never`, no `as any`, and no error that is expected', () => {
    const off = written.filter(({ text }) =>
      /\bas (?:never|any)(?=[;,)\]\s]*$|[;,)\]])|@ts-(?:expect-error|ignore|nocheck)/m.test(text),
    );
    expect(off.map(({ path }) => path)).toEqual([]);
  });

  test('without closures above the constants, variables and classes of the same function that they use', () => {
    const uses = written.flatMap(({ path, text }) =>
      findEarlyUses(text).map(({ name, line }) => `${path}:${line} uses ${name}`),
    );
    expect(uses).toEqual([]);
  });

  test('without barrels: no index.ts but the entry of the package, and nothing else that is exported from another file', () => {
    const barrels = written.filter(
      ({ path, text }) =>
        path !== 'src/index.ts' && (basename(path) === 'index.ts' || /^export\s[^;=(]*?\sfrom\s'/m.test(text)),
    );
    expect(barrels.map(({ path }) => path)).toEqual([]);
  });

  test('with a docstring directly above everything that is exported', () => {
    const bare = written.flatMap(({ path, text }) => {
      const lines = text.split('\n');
      return lines.flatMap((line, index) => {
        const name = /^export (?:async |abstract )?(?:const|function\*?|class|type|let) (\w+)/.exec(line)?.[1];
        const isRef = /^export const \w+Ref\b.* = builder\./.test(line);
        const hasDocstring = /^(\/\*\*.*)?\*\/$/.test(lines[index - 1]?.trim() ?? '');
        return name === undefined || isRef || hasDocstring || isOverload(lines, index, name)
          ? []
          : [`${path}: ${name}`];
      });
    });
    expect(bare).toEqual([]);
  });

  test('without comments on lines over 140 characters', () => {
    const files = [...written, ...readSources('{test,explorer/src}/**/*.{ts,tsx}')];
    const long = files
      .filter(({ path }) => !path.includes('generated'))
      .filter(({ text }) => /^(?=.{141}) *(?:\*|\/\/|\/\*)/m.test(text));
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  test('in files none of which is named after nothing in particular', () => {
    const odd = written.filter(({ path }) =>
      path
        .replace(/\.ts$/, '')
        .split('/')
        .some((name) => VAGUE.has(name)),
    );
    expect(odd.map(({ path }) => path)).toEqual([]);
  });
});

/** The devDependencies in the bundles of the package; `graphql` only in that of the command: see `docs/decisions/package.md`. */
const BUNDLED = [
  ...['api', 'core', 'otlp-transformer', 'resources', 'sdk-trace'].map((name) => `@opentelemetry/${name}`),
  ...[
    '@grpc/grpc-js',
    '@pothos/core',
    '@pothos/plugin-relay',
    '@redis/client',
    'cockatiel',
    'dataloader',
    'graphql',
    'graphql-scalars',
  ],
  ...[
    'graphql-ws',
    'graphql-yoga',
    'leven',
    'lru-cache',
    'negotiator',
    'pg',
    'pino',
    'pino-pretty',
    'prom-client',
    'proxy-addr',
    'tinyqueue',
    'undici',
    'ws',
  ],
];

const TRACING_START = 'src/tracing/start.ts';

/** The port of traces, and what starts them. Everything else in the folder is loaded only when they are on. */
const EAGER_TRACING = [TRACING_START, 'src/tracing/tracing.ts'];

const STARTS_PROCESSES = new Set(['node:child_process', 'playwright-core']);

const VAGUE = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'lib', 'core', 'manager', 'misc']);

/** Whether the line goes on with what the line above has begun to declare: the docstring stands above the first. */
function isOverload(lines: readonly string[], index: number, name: string): boolean {
  return new RegExp(`^export function ${name}\\b.*;$`).test(lines[index - 1] ?? '');
}

describe('do these tests see what they look for', () => {
  test.each<[string, Import[]]>([
    ["import a from 'a';", [{ from: 'a', isType: false }]],
    ["import 'a';", [{ from: 'a', isType: false }]],
    ["import type { A } from './a.ts';", [{ from: './a.ts', isType: true }]],
    ["import { type A, type B } from './a.ts';", [{ from: './a.ts', isType: true }]],
    ["import { type A, b } from './a.ts';", [{ from: './a.ts', isType: false }]],
    ["import { \n  type A, \n  b, \n } from './a.ts';", [{ from: './a.ts', isType: false }]],
    ["import { \n  type A, \n  type B, \n } from './a.ts';", [{ from: './a.ts', isType: true }]],
    [
      "import * as a from 'a';\nimport b from 'b';",
      [
        { from: 'a', isType: false },
        { from: 'b', isType: false },
      ],
    ],
    ["export { a } from './a.ts';", [{ from: './a.ts', isType: false }]],
    ["const a = await import('./a.ts');", [{ from: './a.ts', isType: false }]],
    ["export const from = 'a';", []],
  ])('%j', (text, imports) => {
    expect(importsOf(text)).toEqual(imports);
  });

  test.each<[string, string[]]>([
    ['function f() { const g = () => x; const x = 1; }', ['x']],
    ['function f() { const g = () => ({ x }); let x = 1; }', ['x']],
    ['function f() { function g() { return b; } const { a, b: [b] = [], ...c } = q; }', ['b']],
    ['const f = { m() { if (a) { g(() => K); class K {} } } };', ['K']],
    ['for (const x of [1]) { g(() => x + y); const y = x; }', ['y']],
    ['function f() { const x = 1; const g = () => x; }', []],
    ['function f() { const x = () => x; }', []],
    ['function f() { const g = (x) => x; const x = 1; }', []],
    ['function f() { const g = () => ({ x: o.x }); const x = 1; }', []],
    ['function f() { const g = (a: typeof x) => a; const x = 1; }', []],
    ['function f() { const g = () => h(); function h() {} }', []],
    ['const f = () => x; const x = 1;', []],
  ])('%s', (text, names) => {
    expect(findEarlyUses(text).map(({ name }) => name)).toEqual(names);
  });
});
