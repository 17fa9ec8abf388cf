import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { schema } from '../src/graphql/schema.ts';
import { envExample, settingsTable } from '../src/settings-text.ts';
import { startGateway } from './support/gateway.ts';

const readme = read('README.md');

function read(file: string): string {
  return readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
}

/** The sandbox as it comes, before its first own block: what a newcomer sees first. */
let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway({ sandbox: { seed: 1 } });
});
afterAll(() => gateway.close());

type Block = { readonly language: string; readonly text: string };

const blocks: Block[] = [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
  language,
  text,
}));
const examples = blocks.flatMap(({ language, text }, index) =>
  language === 'graphql'
    ? [{ query: text, answer: blocks[index + 1]?.language === 'json' ? blocks[index + 1]?.text : undefined }]
    : [],
);

describe("the README's examples", () => {
  test('are there', () => {
    expect(examples.length).toBeGreaterThan(5);
    expect(examples.filter(({ answer }) => answer !== undefined).length).toBeGreaterThan(1);
  });

  test.each(examples)('work: $query', async ({ query, answer }) => {
    const isSubscription = query.startsWith('subscription');
    const given = isSubscription ? (await gateway.subscribe(query).next()).value : await gateway.ask(query);
    expect(given?.errors).toBeUndefined();
    expect(given?.data).toBeTruthy();
    if (answer !== undefined) expect(given).toEqual(JSON.parse(answer));
  });

  test.each(
    blocks.filter(({ language }) => language === 'js' || language === 'sh').flatMap(({ text }) => queriesIn(text)),
  )('ask what the schema has: %s', async (query) => {
    expect((await gateway.subscribe(query).next()).value?.errors).toBeUndefined();
  });
});

/** The GraphQL inside a JavaScript or shell example. */
function queriesIn(text: string): string[] {
  return [...text.matchAll(/(?:query: '|"query":")(.*?)['"][,}]/g)].map(([, query = '']) => query);
}

describe('what is printed from the code', () => {
  test('the table of settings and .env.example are as the code has them', () => {
    expect(readme).toContain(`\n${settingsTable()}\n`);
    expect(read('.env.example')).toBe(envExample());
  });

  test('the table of errors has every code that the code has, and no other', () => {
    const codes = [...read('src/errors.ts').matchAll(/^ {2}\| '([A-Z_]+)'/gm)].map(([, code]) => code);
    const told = [...readme.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
    const ofDocuments = ['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'];
    expect(told.toSorted()).toEqual([...codes, ...ofDocuments].toSorted());
    expect(codes.length).toBeGreaterThan(10);
  });

  test('the table of metrics is what /metrics says of itself', async () => {
    const url = await gateway.app.listen(0, '127.0.0.1');
    const text = await (await fetch(new URL('/metrics', url))).text();
    const said = [...text.matchAll(/^# HELP (pdex_\w+) (.*)$/gm)].map(([, name, help]) => `| \`${name}\` | ${help} |`);
    const told = readme.split('\n').filter((line) => line.startsWith('| `pdex_'));
    expect(told).toEqual(said);
  });

  test('every name in the tour is in the schema', () => {
    for (const name of ['price', 'exactPrice', 'inversePrice', 'spotPrice', 'token1PoolValue', 'token2PoolValue']) {
      expect(readme).toContain(`\`${name}\``);
      expect(schema.getType('PoolPair')).toHaveProperty(['_fields', name]);
    }
  });
});
