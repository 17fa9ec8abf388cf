import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findEarlyUses } from './support/early-uses.ts';
import { bench, readSources, soak, sources } from './support/source-files.ts';

const EXPORT = /^export (?:async |abstract )?(?:function\*?|const|class|type) (\w+)/gm;
const IMPORT =
  /^(?:import|export) (?:type )?\{([^}]*)\} from '(\.[^']+)';|\{([^{}]*)\} = await import\('(\.[^']+)'\)/gm;

describe('how is the source written', () => {
  const written = [...sources, ...soak, ...bench];
  const tests = readSources('{test,explorer/test}/**/*.ts');
  const all = [...written, ...tests, ...readSources('explorer/src/**/*.{ts,tsx}')];

  test('without exports that no other file imports', () => {
    const exported = sources.flatMap(({ path, text }) =>
      [...text.matchAll(EXPORT)].map(([, name = '']) => `${path}: ${name}`),
    );
    const imported = [...written, ...tests, ...readSources('*.ts')].flatMap(({ path, text }) =>
      [...text.matchAll(IMPORT)].flatMap(([, names, from = '', awaited = '', awaitedFrom = from]) =>
        [...(names ?? awaited).matchAll(/(?:^|,)\s*(?:type )?(\w+)/g)].map(
          ([, name = '']) => `${join(dirname(path), awaitedFrom)}: ${name}`,
        ),
      ),
    );
    expect(exported.length).toBeGreaterThan(1_000);
    expect([...new Set(exported).difference(new Set(imported))]).toEqual([]);
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
    const long = all
      .filter(({ path }) => !path.includes('generated'))
      .filter(({ text }) => /^(?=.{141}) *(?:\*|\/\/|\/\*)/m.test(text));
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  test('with one import statement for each module', () => {
    const repeated = all.filter(({ text }) => {
      const modules = [...text.matchAll(/^import [^;']* from '([^']+)';$/gm)].map(([, from]) => from);
      return new Set(modules).size < modules.length;
    });
    expect(repeated.map(({ path }) => path)).toEqual([]);
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

const VAGUE = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'lib', 'core', 'manager', 'misc']);

/** Whether the line goes on with what the line above has begun to declare: the docstring stands above the first. */
function isOverload(lines: readonly string[], index: number, name: string): boolean {
  return new RegExp(`^export function ${name}\\b.*;$`).test(lines[index - 1] ?? '');
}

describe('an early use is found, and nothing else', () => {
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
