import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createGateway } from '../../../src/index.ts';
import type { Config } from '../../../src/settings/settings.ts';
import type { Answer } from '../../support/gateway.ts';
import { type ServedGateway, serveGatewayForTest } from '../../support/served-gateway.ts';
import { type NamedOperation, nextMessage, openSocket, TRANSPORTS } from '../../support/transports.ts';

const HEIGHT = 'query Height { beaconHeight }';
const DOCUMENTS = {
  height: HEIGHT,
  unnamed: '{ beaconHeight }',
  several: 'query A { beaconHeight } query B { a: beaconHeight }',
  heads: 'subscription Heads { head { beaconHeight } }',
  conditional:
    'query If($a: Boolean!, $b: Boolean = false) { beaconHeight @include(if: $a) b: beaconHeight @skip(if: $b) }',
};
const manifest = { path: 'manifest.json', texts: new Map(Object.entries(DOCUMENTS)) };

function serve(config: Partial<Config> = {}): Promise<ServedGateway> {
  return serveGatewayForTest({ config: { persistedDocuments: manifest, maxOperationsPerRequest: 2, ...config } });
}

const JSON_HEADERS = { 'content-type': 'application/json' };
const sha256 = (text: string) => hash('sha256', text, 'hex');
const hashed = (sha256Hash: unknown) => ({ persistedQuery: { version: 1, sha256Hash } });

/** Every way to send an operation. */
const WAYS: Readonly<Record<string, (gateway: ServedGateway, operation: NamedOperation) => Promise<Answer>>> = {
  ...Object.fromEntries(
    Object.entries(TRANSPORTS).map(([name, send]) => [
      name,
      ({ url }: ServedGateway, operation: NamedOperation) => send(url, operation),
    ]),
  ),
  async 'an array by POST'({ url }, operation) {
    const response = await fetch(url, {
      method: 'POST',
      headers: JSON_HEADERS,
      body: JSON.stringify([operation, operation]),
    });
    const answers = (await response.json()) as Answer[];
    expect(answers[1]).toEqual(answers[0]);
    return answers[0] as Answer;
  },
  async fetch({ app }, operation) {
    const init = { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify(operation) };
    return (await app.fetch(new Request('http://gateway/graphql', init))).json();
  },
  async 'a websocket, with the payload first'({ url }, operation) {
    const socket = await openSocket(url);
    socket.send(JSON.stringify({ payload: operation, id: '1', type: 'subscribe' }));
    const { type, payload } = JSON.parse(await nextMessage(socket));
    socket.close();
    return type === 'error' ? { errors: payload } : payload;
  },
};

const codesOf = ({ errors = [] }: Answer) => errors.map(({ extensions }) => extensions.code);

describe('over every transport, a persisted document', () => {
  test('is executed by its id, by the hash of its text and as a persisted query, with or without its text', async () => {
    const gateway = await serve({ persistedOnly: true });
    const data = { beaconHeight: gateway.sandbox.chain.tip.height };
    for (const [name, ask] of Object.entries(WAYS))
      for (const operation of [
        { documentId: 'height' },
        { documentId: 'height', query: '' },
        { documentId: 'height', query: HEIGHT },
        { documentId: `sha256:${sha256(HEIGHT)}` },
        { documentId: 'several', operationName: 'A' },
        { documentId: 'conditional', variables: { a: true, b: true } },
        { extensions: hashed('height') },
        { extensions: hashed('height'), query: HEIGHT },
      ])
        expect([name, operation, await ask(gateway, operation)]).toEqual([name, operation, { data }]);
  });

  test('has clear errors: unknown ids, wrong types, another text, no operation', async () => {
    const gateway = await serve();
    for (const [name, ask] of Object.entries(WAYS)) {
      const wrongType = name.endsWith('GET') ? 'PERSISTED_QUERY_NOT_IN_LIST' : 'BAD_USER_INPUT';
      for (const [operation, code] of [
        [{ documentId: 'unknown' }, 'PERSISTED_QUERY_NOT_IN_LIST'],
        [{ documentId: '' }, 'PERSISTED_QUERY_NOT_IN_LIST'],
        [{ documentId: 'unknown', query: HEIGHT }, 'PERSISTED_QUERY_NOT_IN_LIST'],
        [{ documentId: 7 }, wrongType],
        [{ documentId: ['height'] }, wrongType],
        [{ documentId: 'height', query: '{ beaconHeight }' }, 'BAD_USER_INPUT'],
        [{ extensions: hashed('height'), query: '{ beaconHeight }' }, 'BAD_USER_INPUT'],
        [{ extensions: hashed('unknown') }, 'PERSISTED_QUERY_NOT_FOUND'],
        [{ documentId: 'several' }, 'BAD_USER_INPUT'],
        [{ documentId: 'several', operationName: 'C' }, 'BAD_USER_INPUT'],
        [{ documentId: 'conditional' }, 'BAD_USER_INPUT'],
      ] as const)
        expect([name, operation, codesOf(await ask(gateway, operation))]).toEqual([name, operation, [code]]);
      expect(await ask(gateway, { query: '{ beaconHeight }' })).toHaveProperty('data');
    }
  });

  test('is executed with an empty operation name as without one, and so is a text', async () => {
    const gateway = await serve();
    const data = { beaconHeight: gateway.sandbox.chain.tip.height };
    for (const [name, ask] of Object.entries(WAYS)) {
      for (const operation of [{ documentId: 'height' }, { documentId: 'unnamed' }, { query: HEIGHT }]) {
        const answer = await ask(gateway, { ...operation, operationName: '' });
        expect([name, operation, answer]).toEqual([name, operation, { data }]);
      }
      for (const operation of [{ documentId: 'several' }, { query: DOCUMENTS.several }])
        expect(await ask(gateway, { ...operation, operationName: '' })).toEqual(await ask(gateway, operation));
    }
  });

  test('is the only thing that is executed with PERSISTED_ONLY, and nothing is registered', async () => {
    const gateway = await serve({ persistedOnly: true });
    const query = '{ pools: beaconHeight }';
    for (const [name, ask] of Object.entries(WAYS))
      for (const [operation, code] of [
        [{ query }, 'PERSISTED_QUERY_ONLY'],
        [{ query: HEIGHT }, 'PERSISTED_QUERY_ONLY'],
        [{ query: '{ __schema { queryType { name } } }' }, 'PERSISTED_QUERY_ONLY'],
        [{ query, extensions: hashed(sha256(query)) }, 'PERSISTED_QUERY_ONLY'],
        [{ extensions: hashed(sha256(query)) }, 'PERSISTED_QUERY_NOT_IN_LIST'],
        [{ documentId: 'unknown' }, 'PERSISTED_QUERY_NOT_IN_LIST'],
      ] as const)
        expect([name, operation, codesOf(await ask(gateway, operation))]).toEqual([name, operation, [code]]);
  });

  test('starts, if it is a subscription', async () => {
    const gateway = await serve({ persistedOnly: true });
    const data = { head: { beaconHeight: gateway.sandbox.chain.tip.height } };
    for (const name of ['a websocket', 'server-sent events by POST', 'server-sent events by GET'])
      for (const operation of [{ documentId: 'heads' }, { documentId: 'heads', operationName: '' }])
        expect([name, await WAYS[name]?.(gateway, operation)]).toEqual([name, { data }]);
  });
});

test('a refused operation has the status of an operation that is not executed, and is counted', async () => {
  const { url } = await serve({ persistedOnly: true });
  const statusOf = async (operation: NamedOperation, accept: string) => {
    const body = JSON.stringify(operation);
    const response = await fetch(url, { method: 'POST', headers: { ...JSON_HEADERS, accept }, body });
    await response.text();
    return response.status;
  };
  for (const operation of [{ query: HEIGHT }, { documentId: 'unknown' }])
    expect([
      await statusOf(operation, 'application/json'),
      await statusOf(operation, 'application/graphql-response+json'),
    ]).toEqual([200, 400]);
  expect(await statusOf({ documentId: 7 }, 'application/json')).toBe(400);
  const text = await (await fetch(new URL('/metrics', url))).text();
  expect(text).toContain('pdex_operations_total{type="any",outcome="refused"} 5');
});

test('a gateway without a manifest has no persisted document', async () => {
  const { url } = await serveGatewayForTest();
  const response = await fetch(`${url}?documentId=height`);
  expect([response.status, codesOf((await response.json()) as Answer)]).toEqual([200, ['PERSISTED_QUERY_NOT_IN_LIST']]);
});

test('the metrics count the operations of persisted documents by name, also from the response cache', async () => {
  const { url } = await serve();
  for (const operation of [
    ...Array(4).fill({ documentId: 'height' }),
    { documentId: 'unnamed' },
    { documentId: 'several', operationName: 'B' },
    { query: 'query Other { beaconHeight }' },
  ])
    await TRANSPORTS['HTTP POST']?.(url, operation);
  await TRANSPORTS['a websocket']?.(url, { documentId: 'heads' });
  const text = await (await fetch(new URL('/metrics', url))).text();
  expect(text.split('\n').filter((line) => line.startsWith('pdex_persisted_operations_total'))).toEqual([
    'pdex_persisted_operations_total{operation="Height"} 4',
    'pdex_persisted_operations_total{operation="unnamed"} 1',
    'pdex_persisted_operations_total{operation="B"} 1',
    'pdex_persisted_operations_total{operation="Heads"} 1',
  ]);
});

test('the access log has the name and the hash of the text that an id stands for', async () => {
  const gateway = await serve({ accessLog: 'all' });
  const names = ['HTTP POST', 'HTTP GET', 'an array by POST', 'a websocket'];
  for (const name of names) await WAYS[name]?.(gateway, { documentId: 'height' });
  const lines = gateway.lines.filter(({ operation }) => operation !== undefined);
  expect(lines.map(({ operation, hash: digits }) => [operation, digits])).toEqual(
    names.map(() => ['Height', sha256(HEIGHT).slice(0, 16)]),
  );
});

test('browsers do not get GraphiQL with PERSISTED_ONLY, and the index has no link to it', async () => {
  const { url } = await serve({ persistedOnly: true });
  const headers = { accept: 'text/html,*/*;q=0.8' };
  const endpoint = await request(url, { headers });
  expect([endpoint.statusCode, endpoint.headers['content-type']]).toEqual([400, 'application/json; charset=utf-8']);
  await endpoint.body.dump();
  const index = await request(new URL('/', url), { headers });
  expect(await index.body.text()).not.toContain('GraphiQL');
});

describe('a manifest with documents that cannot be executed', () => {
  const INVALID = {
    good: HEIGHT,
    syntax: 'query {',
    field: 'query A {\n  nothing\n}',
    mutation: 'mutation A { a }',
    fragment: 'fragment A on Query { beaconHeight }',
    deep: 'query A($a: Boolean!) { service @include(if: $a) { limits { maxDepth } } }',
  };
  const PROBLEMS = [
    /document "syntax": Syntax Error: Expected Name, found <EOF>\. \(line 1, column 8 of its text\)$/,
    /document "field": Cannot query field "nothing" on type "Query"\. \(line 2, column 3 of its text\)$/,
    /document "mutation": .*mutation/i,
    /document "fragment": Fragment "A" is never used\./,
    /document "deep": The selection depth of the operation is 3\. The maximum is 2\.$/,
  ];

  test('fails the start, and each has a problem with its id and its first error', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pdex-persisted-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const persistedDocuments = join(folder, 'manifest.json');
    writeFileSync(persistedDocuments, JSON.stringify(INVALID));
    await expect(createGateway({ persistedDocuments, maxDepth: 2, persistedOnly: true })).rejects.toMatchObject({
      name: 'ConfigError',
      problems: PROBLEMS.map((problem) => expect.stringMatching(problem)),
    });
  });
});
