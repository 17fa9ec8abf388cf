import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { parseEnv } from 'node:util';
import { type GraphQLFieldMap, getNamedType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../src/graphql/schema.ts';
import { SETTING_GROUPS, SETTINGS } from '../src/settings/settings.ts';
import { createStoreModel } from './history/store-model.ts';
import { anchorsOf, PAGES, proseOf, type Sample, samplesIn } from './support/doc-pages.ts';
import {
  envExample,
  errorsTable,
  faultsTable,
  metricsTable,
  replacePart,
  settingsTables,
} from './support/doc-tables.ts';
import { startGateway } from './support/gateway.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** The sandbox as a newcomer first sees it, before its first own block. */
let gateway: Awaited<ReturnType<typeof startGateway>>;
let exposition: string;
beforeAll(async () => {
  // A gateway of a fleet has all metrics, also while nothing is at the address.
  const config = { historyBackfillHours: 0, redisUrl: [new URL('redis://127.0.0.1:1')] };
  gateway = await startGateway({ sandbox: { seed: 1, history: 2_160 }, store: createStoreModel(), config });
  const url = await gateway.app.listen(0, '127.0.0.1');
  // The samples are of a gateway that has found out that it works alone.
  await gateway.untilReady();
  exposition = await (await fetch(new URL('/metrics', url))).text();
});
afterAll(() => gateway.close());

describe('the pages', () => {
  test.each([
    ['README.md', 200],
    ['ARCHITECTURE.md', 160],
    ...globSync('docs/decisions/*.md', { cwd: ROOT }).map((path): [string, number] => [path, 50]),
  ])('%s has at most %i lines', (path, lines) => {
    expect(read(path).trimEnd().split('\n').length).toBeLessThanOrEqual(lines);
  });

  test('all pages of docs/ are linked from README, and all decisions from their index', () => {
    const pages = globSync('docs/*.md', { cwd: ROOT });
    expect(pages.length).toBeGreaterThan(10);
    expect(pages.filter((path) => !read('README.md').includes(`](${path})`))).toEqual([]);
    const decisions = globSync('docs/decisions/*.md', { cwd: ROOT }).map((path) => path.replace('docs/decisions/', ''));
    const index = read('docs/decisions/README.md');
    expect(decisions.filter((path) => path !== 'README.md' && !index.includes(`](${path})`))).toEqual([]);
  });

  test('CHANGELOG has the version of the package, each version with its date, and docs/library.md names its file', () => {
    const { version } = JSON.parse(read('package.json'));
    const [first, ...released] = [...read('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);
    expect([first, released[0]?.split(' ')[0]]).toEqual(['Unreleased', version]);
    expect(released.filter((heading) => !/^\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)$/.test(heading))).toEqual([]);
    expect(released.length).toBeGreaterThan(2);
    expect(JSON.parse(read('package-lock.json')).version).toBe(version);
    expect(read('docs/library.md')).toContain(`/pdex-gateway-${version}.tgz\n`);
  });

  test('CHANGELOG lists what was renamed under the headings that docs/backup.md names', () => {
    const named = [...read('docs/backup.md').matchAll(/"(Changed for \w+)"/g)].map(([, heading]) => heading);
    const groups = read('CHANGELOG.md').split(/^(?=[A-Z][^\n]*:$)/m);
    const renaming = groups.filter((group) => /^ *\| before \| now \|$/m.test(group));
    expect([named.length, renaming.length > 0]).toEqual([2, true]);
    expect(renaming.map((group) => group.split(':', 1)[0]).filter((heading) => !named.includes(heading))).toEqual([]);
  });

  test('ARCHITECTURE has rows for each folder of src, with the names of its files', () => {
    const folders = globSync('src/**/', { cwd: ROOT }).filter((path) => /^src\/(?!sandbox\/.)./.test(path));
    const lines = read('ARCHITECTURE.md').split('\n');
    const rowsOf = (folder: string) => lines.filter((line) => line.startsWith(`| \`${folder}/\``)).join('\n');
    expect(folders.length).toBeGreaterThan(10);
    expect(folders.filter((path) => rowsOf(path) === '')).toEqual([]);
    const files = globSync('src/*/**/*.ts', { cwd: ROOT }).filter((path) => !path.startsWith('src/sandbox/'));
    expect(files.filter((path) => !rowsOf(dirname(path)).includes(`\`${basename(path)}\``))).toEqual([]);
  });

  test.each(PAGES)('the links of $path lead somewhere', (page) => {
    const links = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const lost = links.filter((link) => {
      if (/^https?:/.test(link)) return false;
      const [file = '', anchor] = link.split('#');
      const path = file === '' ? page.path : normalize(join(dirname(page.path), file));
      const target = PAGES.find((other) => other.path === path);
      return !existsSync(join(ROOT, path)) || (anchor !== undefined && !(target && anchorsOf(target).has(anchor)));
    });
    expect(lost).toEqual([]);
  });

  test.each(PAGES.filter(({ path }) => path !== 'CHANGELOG.md'))('the files that $path names exist', ({ text }) => {
    const paths = [...text.matchAll(/`((?:src|test|docs|soak|bench|deploy)\/[\w./-]*)`/g)].map(([, path = '']) => path);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test('no page has a word that CONTRIBUTING replaces by another one', () => {
    /** Words that also have another meaning, in which pages use them. */
    const ambiguous = 'parts, say, asks, turns, spread, soon, given, next, end, so long'.split(', ');
    const [table = ''] = /(?<=\| not \| but \|\n\|---\|---\|\n)(\|.*\n)+/.exec(read('CONTRIBUTING.md')) ?? [];
    const words = [...table.matchAll(/^\| ([^|(]+)/gm)]
      .flatMap(([, cell = '']) => cell.trim().split(/[,;] /))
      .filter((word) => !ambiguous.includes(word));
    expect(words.length).toBeGreaterThan(40);
    const found = PAGES.filter(({ path }) => !/^(CONTRIBUTING|CHANGELOG)/.test(path)).flatMap((page) => {
      const text = proseOf(page)
        .replace(/`[^`\n]*`/g, '')
        .replace(/\s+/g, ' ');
      return words.filter((word) => new RegExp(`\\b${word}\\b`, 'i').test(text)).map((word) => `${page.path}: ${word}`);
    });
    expect(found).toEqual([]);
  });

  test('the tests that docs/reliability.md names exist', () => {
    const tables = read('docs/reliability.md').matchAll(/^\| .* \| test in `test\/(\w+)\/`.*\n((?:\|.*\n)+)/gm);
    const named = [...tables].flatMap(([, folder = '', rows = '']) => {
      const column = folder === 'failure' ? -2 : -3;
      return rows
        .split('\n')
        .slice(1, -1)
        .flatMap((row) => [...(row.split('|').at(column) ?? '').matchAll(/`([\w/-]+)`/g)])
        .map(([, name]) => [`test/${folder}/${name}.test.ts`, `test/${name}.test.ts`]);
    });
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((paths) => !paths.some((path) => existsSync(join(ROOT, path))))).toEqual([]);
  });
});

test('the samples that install Node allow its install script, which npm 12 otherwise does not run', () => {
  const installing = samplesIn('sh').filter(({ text }) => text.includes('npm install node@'));
  expect(installing.map(({ page }) => page)).toEqual(['docs/clients.md', 'docs/library.md']);
  for (const { text } of installing) expect(text).toContain('npm pkg set allowScripts.node=true --json');
});

describe('the names on the pages', () => {
  const source = globSync('src/**/*.ts', { cwd: ROOT }).map((path) => ({ path, text: read(path) }));
  const ours = source.filter(({ path }) => !path.startsWith('src/sandbox/'));
  const variables = Object.values(SETTINGS).map(({ variable }) => variable);
  /** A misspelt setting as an example, an option of sockets that Node lacks, and variables of other programs. */
  const foreign = new Set([
    'FULNODE_URL',
    'TCP_USER_TIMEOUT',
    'GATEWAY_ENV',
    'GATEWAY_URL',
    'POSTGRES_PASSWORD',
    'NODE_EXTRA_CA_CERTS',
    'UV_THREADPOOL_SIZE',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  ]);

  test('settings, codes and values of enums exist in the code', () => {
    const names = new Set(PAGES.flatMap(({ text }) => text.match(/\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/g) ?? []));
    const known = (name: string) => variables.includes(name) || ours.some(({ text }) => text.includes(name));
    expect(names.size).toBeGreaterThan(50);
    expect([...names].filter((name) => !foreign.has(name) && !known(name))).toEqual([]);
  });

  test('every reason of /ready is in docs/operating.md', () => {
    const codes = ours
      .filter(({ path }) => path !== 'src/errors.ts')
      .flatMap(({ text }) => [...text.matchAll(/\{\s*code: '([A-Z_]+)',\s*message/g)].map(([, code]) => code));
    const operating = read('docs/operating.md');
    expect(codes.length).toBeGreaterThan(5);
    expect(codes.filter((code) => !operating.includes(`| \`${code}\` |`))).toEqual([]);
  });

  test('fields exist in the schema', () => {
    const fieldsOf = (name: string): GraphQLFieldMap<unknown, unknown> => {
      const type = schema.getType(name);
      return isObjectType(type) ? type.getFields() : {};
    };
    /** Whether a path of fields, such as `limits.maxDepth` of Service, can be selected. */
    const isSelectable = (type: string, [name = '', ...others]: readonly string[]): boolean => {
      const field = fieldsOf(type)[name];
      return field !== undefined && (others.length === 0 || isSelectable(getNamedType(field.type).name, others));
    };
    // A name such as `quote.ts` is that of a file.
    const paths = PAGES.flatMap(({ text }) => [...text.matchAll(/`([A-Za-z]+(?:\.[a-z]\w*)+)(?<!\.tsx?)`/g)])
      .map(([, path = '']) => path.split('.'))
      .map(([first = '', ...rest]) => (first in fieldsOf('Query') ? ['Query', first, ...rest] : [first, ...rest]))
      .filter(([type = '']) => isObjectType(schema.getType(type)));
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter(([type = '', ...names]) => !isSelectable(type, names))).toEqual([]);

    const prices = [...read('docs/concepts.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
    expect(prices.length).toBeGreaterThan(3);
    expect(prices.filter((name) => !(name in fieldsOf('PoolPair')))).toEqual([]);
  });

  test('metrics exist', () => {
    // The list of changes names those of before.
    const pages = PAGES.filter(({ path }) => !path.endsWith('CHANGELOG.md'));
    const names = new Set(pages.flatMap(({ text }) => text.match(/\bpdex_\w+/g) ?? []));
    const known = new Set([...exposition.matchAll(/^# HELP (\w+) /gm)].map(([, name]) => name));
    // The schema of the tables in PostgreSQL.
    names.delete('pdex_history');
    expect(known.size).toBeGreaterThan(20);
    expect([...names].filter((name) => !known.has(name.replace(/_(bucket|sum|count)$/, '')))).toEqual([]);
  });
});

describe('what `npm run docs` prints', () => {
  test('each setting is in one group', () => {
    expect(
      Object.values(SETTING_GROUPS)
        .flatMap((settings) => Object.keys(settings))
        .toSorted(),
    ).toEqual(Object.keys(SETTINGS).toSorted());
  });

  test('the settings and .env.example are as the code has them', () => {
    const page = read('docs/settings.md');
    expect(replacePart(page, 'settings', settingsTables())).toBe(page);
    expect(read('.env.example')).toBe(envExample());
  });

  test('the error codes are as the code has them', () => {
    const page = read('docs/errors.md');
    expect(replacePart(page, 'codes', errorsTable())).toBe(page);
  });

  test('the faults of the sandbox are as the code has them, without one that is left out', () => {
    const [page, source] = [read('docs/sandbox.md'), read('src/sandbox/faults.ts')];
    const table = faultsTable(source);
    expect(table.match(/^\| .*kind: /gm)).toHaveLength(source.match(/readonly kind: /g)?.length ?? 0);
    expect(replacePart(page, 'faults', table)).toBe(page);
  });

  test('the metrics are as the gateway describes them', () => {
    const page = read('docs/operating.md');
    expect(replacePart(page, 'metrics', metricsTable(exposition))).toBe(page);
  });
});

describe('the samples', () => {
  type Answer = { readonly data?: unknown; readonly errors?: readonly { readonly message: string }[] };
  const jsonOf = (sample: Sample) => (sample.next?.language === 'json' ? JSON.parse(sample.next.text) : undefined);
  const isAnswer = (json: object | undefined): json is Answer =>
    json !== undefined && ('data' in json || 'errors' in json);
  /** Messages are for people: a page may show an earlier wording. */
  const withoutMessages = (answer: Answer) => ({
    ...answer,
    ...(answer.errors && { errors: answer.errors.map((error) => ({ ...error, message: '' })) }),
  });

  test('are there', () => {
    expect(samplesIn('graphql').length).toBeGreaterThan(10);
    expect(samplesIn('graphql').filter((sample) => isAnswer(jsonOf(sample))).length).toBeGreaterThan(2);
    const languages = PAGES.flatMap(({ samples }) => samples.map(({ language }) => language));
    // HTML is that of a proprietary library, which cannot be installed. What it requests is tested in test/rest/candles.test.ts.
    const tested = ['', 'graphql', 'json', 'ini', 'js', 'ts', 'sh', 'html'];
    expect(languages.filter((language) => !tested.includes(language))).toEqual([]);
  });

  test('include a chart that does not change symbols to upper case: they are case-sensitive', () => {
    const chart = samplesIn('html').find(({ text }) => text.includes('TradingView'));
    expect(chart?.text).toContain("disabled_features: ['uppercase_instrument_names']");
  });

  test.each(samplesIn('graphql'))('GraphQL of $page: $text', async (sample) => {
    const json = jsonOf(sample);
    const expected = isAnswer(json) ? json : undefined;
    const variables = expected === undefined ? json : undefined;
    const isSubscription = sample.text.startsWith('subscription');
    const answer = isSubscription
      ? (await gateway.subscribe(sample.text, variables).next()).value
      : await gateway.ask(sample.text, variables);
    if (expected === undefined) expect(answer?.errors).toBeUndefined();
    else expect(withoutMessages(answer ?? {})).toEqual(withoutMessages(expected));
    expect(answer?.data).toBeTruthy();
  });

  describe('of docs/queries.md, where V3 trades', () => {
    let v3: Awaited<ReturnType<typeof startGateway>>;
    beforeAll(async () => {
      const config = { historyBackfillHours: 0, tradesBackfillHours: 0 };
      v3 = await startGateway({ sandbox: { exchange: 'v3' }, store: createStoreModel(), config });
      await v3.untilReady();
    });
    afterAll(() => v3.close());

    /** The fields that are null, with the reason. */
    const nullFields: Readonly<Record<string, string>> = {
      anHourBefore: 'its height is one of the chain of V1',
      ambiguous: 'the page shows its error',
      history: 'nothing is recorded yet',
    };

    test.each(samplesIn('graphql').filter(({ page }) => page === 'docs/queries.md'))('$text', async (sample) => {
      const json = jsonOf(sample);
      const { data } = await v3.ask(sample.text, isAnswer(json) ? undefined : json);
      const found = Object.entries(data ?? {}).flatMap(([field, value]) => (value === null ? field : []));
      expect(data).toBeTruthy();
      expect(found.filter((field) => !(field in nullFields))).toEqual([]);
    });
  });

  test.each(samplesIn('json'))('JSON of $page', ({ text }) => {
    expect(JSON.parse(text)).toBeTruthy();
  });

  test.each(samplesIn('ini'))('settings in $page: $text', ({ text }) => {
    const names = Object.keys(parseEnv(text));
    expect(names.length).toBeGreaterThan(0);
    expect(names.filter((name) => !Object.values(SETTINGS).some(({ variable }) => variable === name))).toEqual([]);
  });
});
