import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isScalarType } from 'graphql';
import { expect, onTestFinished, test } from 'vitest';
import codegen from '../../codegen.ts';
import { schema } from '../../src/graphql/schema.ts';
import { samplesIn } from '../support/doc-pages.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';

const MODULES = join(import.meta.dirname, '../../node_modules');

const [config = '', program = ''] = samplesIn('ts')
  .filter(({ page, text }) => page === 'docs/clients.md' && /codegen|gql/.test(text))
  .map(({ text }) => text);

/** What the types of the program must refuse. */
const REFUSED = `
import type { PoolsQuery, PoolsQueryVariables } from './gql/graphql.ts';

export function priceOf(data: PoolsQuery) {
  // @ts-expect-error: the field belongs to a fragment
  return data.poolPairs?.nodes[0]?.price;
}

// @ts-expect-error: not a number
export const variables: PoolsQueryVariables = { first: '3' };
`;

const TYPES = {
  compilerOptions: {
    target: 'ES2024',
    module: 'NodeNext',
    types: ['node'],
    noEmit: true,
    skipLibCheck: true,
    strict: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
  },
};

type Token = { readonly symbol: string };
type Pool = { readonly price: number; readonly token1: Token; readonly token2: Token };

/** Makes a folder with these files, and with the packages of this one. It ends with the test. */
function makeProject(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'pdex-codegen-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  symlinkSync(MODULES, join(folder, 'node_modules'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

test('the documents of a program get their types from the schema of a gateway', async () => {
  const { url, ask } = await serveGatewayForTest();
  const here = (text: string) => text.replaceAll('127.0.0.1:4000', new URL(url).host);
  const cwd = makeProject({
    'package.json': '{ "type": "module" }',
    'tsconfig.json': JSON.stringify(TYPES),
    'codegen.ts': here(config),
    'src/pools.ts': here(program),
    'src/refused.ts': REFUSED,
  });
  const run = async (path: string) => (await promisify(execFile)(process.execPath, [path], { cwd })).stdout;

  await run(join(MODULES, '.bin/graphql-codegen'));
  expect(await run(join(MODULES, '.bin/tsc'))).toBe('');
  const printed = await run('src/pools.ts');
  const pools =
    'poolPairs(first: 3, orderBy: NATIVE_LIQUIDITY_DESC) { nodes { price token1 { symbol } token2 { symbol } } }';
  const { data } = await ask(`{ beaconHeight ${pools} }`);
  const rows = data.poolPairs.nodes.map((pool: Pool) => `${pool.token2.symbol} ${pool.price} ${pool.token1.symbol}`);
  expect(printed.trim().split('\n')).toEqual([String(data.beaconHeight), ...rows]);
});

test('the page gives every scalar of the schema the type that the documents of the tests have', async () => {
  const { default: ofPage } = await import(join(makeProject({ 'codegen.ts': config }), 'codegen.ts'));
  const { scalars } = ofPage.generates['src/gql/'].config;
  const generated = codegen.generates['test/support/generated/documents.ts'];
  expect(scalars).toEqual(generated !== undefined && 'config' in generated && generated.config?.['scalars']);
  const custom = Object.values(schema.getTypeMap()).filter(
    (type) => isScalarType(type) && !/^(ID|Int|Float|String|Boolean)$/.test(type.name),
  );
  expect(Object.keys(scalars).toSorted()).toEqual(['ID', ...custom.map(({ name }) => name)].toSorted());
});
