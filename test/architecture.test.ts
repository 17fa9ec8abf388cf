import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, join, matchesGlob, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BROWSERS, DATABASES, PROCESSES } from '../vitest.config.ts';
import { bench, type Import, importsOf, ROOT, readSources, soak, sources } from './support/source-files.ts';

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
  fleet: ['turns', 'live', 'upstream', 'domain', 'errors'],
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

describe('every import of a file is found, and whether it is one of types', () => {
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
});
