import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { validate } from '@hyperjump/json-schema/openapi-3-1';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOpenApi } from '../../src/rest/openapi.ts';
import { restPaths } from '../../src/rest/rest-api.ts';
import type { SandboxHostsOptions } from '../../src/sandbox/sandbox.ts';
import { createStoreModel } from '../history/store-model.ts';
import { startGateway, type TestGatewayOptions } from '../support/gateway.ts';
import { openRest } from '../support/rest.ts';

const options = { paths: restPaths('market-data'), version: '1.2.3', isSandbox: true, maxCandles: 1_000 };
/** The description as it is served. */
const openApi = JSON.parse(JSON.stringify(createOpenApi(options)));
const BASE = '/api/v1/public/market-data';

const RECORDED: TestGatewayOptions = { config: { historyBackfillHours: 0 } };
const V3: SandboxHostsOptions = { exchange: 'v3', history: 30 };

/** The validator reads descriptions from files. */
const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
const file = join(folder, 'gateway.openapi.json');
beforeAll(() => writeFileSync(file, JSON.stringify(openApi)));
afterAll(() => rmSync(folder, { recursive: true }));

const validators = new Map<string, ReturnType<typeof validate>>();

async function errorsOf(schema: string, value: unknown) {
  const validator = validators.get(schema) ?? validate(schema);
  validators.set(schema, validator);
  const { valid, ...output } = (await validator)(value as null, 'BASIC');
  return valid ? [] : [output];
}

const errorsOfSchema = (ref: string, value: unknown) => errorsOf(`${file}${ref}`, value);

/** The value that a local reference names, or the value itself. */
// biome-ignore lint/suspicious/noExplicitAny: any part of the description is looked at
function resolve(value: any): any {
  if (value?.$ref === undefined) return value;
  const keys = value.$ref.replace('#/', '').split('/');
  return keys.reduce((part: Record<string, unknown> | undefined, key: string) => part?.[key], openApi);
}

/** The names of members that a schema does not describe. */
// biome-ignore lint/suspicious/noExplicitAny: any part of the description is looked at
function membersNotIn(schema: any, value: object): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => membersNotIn(resolve(schema.items) ?? {}, item));
  return Object.entries(value).flatMap(([name, member]) => {
    const described = resolve(schema.properties?.[name]);
    if (described === undefined) return [name];
    return described.items && typeof member[0] === 'object' && !Array.isArray(member[0])
      ? membersNotIn(described, member)
      : [];
  });
}

function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Record<string, unknown>;
  for (const each of Object.values(value)) yield* objectsIn(each);
}

describe('the description', () => {
  test('is valid OpenAPI 3.1', async () => {
    expect(await errorsOf('https://spec.openapis.org/oas/3.1/schema-base', openApi)).toEqual([]);
    const invalid = { ...openApi, paths: { '/x': { get: { responses: { 200: {} } } } } };
    expect(await errorsOf('https://spec.openapis.org/oas/3.1/schema-base', invalid)).not.toEqual([]);
  });

  test('has a format for each integer that can need more than 32 bits', () => {
    const integers = [...objectsIn(openApi)].filter(({ type }) => type === 'integer');
    const isSmall = ({ maximum, ...rest }: Record<string, unknown>) => Number(maximum) < 2 ** 31 || rest['const'] === 1;
    expect(integers.filter((each) => each['format'] !== 'int64' && !isSmall(each))).toEqual([]);
    expect(integers.length).toBeGreaterThan(10);
  });

  test('names the gateway by an address that also fits behind a proxy that adds a prefix', () => {
    const [{ url }] = openApi.servers;
    expect(new URL(url, 'https://example.com/dex/openapi.json').href).toBe('https://example.com/dex/');
    expect(new URL(url, 'https://example.com/openapi.json').href).toBe('https://example.com/');
  });

  test('refers only to what it contains, and contains only what it refers to', () => {
    const refs = new Set([...objectsIn(openApi)].flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : [])));
    const components = Object.entries<object>(openApi.components).flatMap(([kind, named]) =>
      Object.keys(named).map((name) => `#/components/${kind}/${name}`),
    );
    expect([...refs].sort()).toEqual(components.sort());
  });

  test('describes every operation, parameter, header and field', () => {
    const operations = Object.values<{ get: Record<string, unknown> }>(openApi.paths).map(({ get }) => get);
    const fields = Object.values<{ properties?: object }>(openApi.components.schemas).flatMap(({ properties = {} }) =>
      Object.entries(properties),
    );
    const { parameters, headers, responses } = openApi.components;
    const described = [
      ...operations,
      ...[parameters, headers, responses].flatMap((named) => Object.values<object>(named)),
    ];
    expect(described.filter((each) => !('description' in each))).toEqual([]);
    expect(
      fields.filter(([, field]) => !(field.description || field.items)).map(([name]) => name),
      'fields without a description',
    ).toEqual([]);
  });

  test('has examples that match their schemas', async () => {
    const contents = [...objectsIn(openApi)].flatMap((each) => (each['application/json'] ? [each] : []));
    const examples = contents.flatMap(({ 'application/json': json }) => {
      const { schema, examples = {} } = json as {
        schema: { $ref: string };
        examples?: Record<string, { value: unknown }>;
      };
      return Object.values(examples).map(({ value }) => [schema.$ref, value] as const);
    });
    expect(examples.length).toBeGreaterThan(8);
    for (const [ref, value] of examples) expect([ref, await errorsOfSchema(ref, value)]).toEqual([ref, []]);
  });

  test('is served, and names the paths that are served', async () => {
    const store = createStoreModel();
    const config = { ...RECORDED.config, marketDataPartner: 'some-partner' };
    const { read } = await openRest({ store, config, sandbox: V3 });
    const { paths, info } = await read('/openapi.json');
    expect(Object.keys(paths)).toEqual([
      '/api/v1/public/some-partner/pairs',
      '/api/v1/public/some-partner/tickers',
      '/api/v1/public/some-partner/orderbook',
      '/api/v1/public/some-partner/candles',
      '/api/v1/public/some-partner/historical_trades',
      ...['/udf/config', '/udf/time', '/udf/symbols', '/udf/search', '/udf/history'],
      '/openapi.json',
    ]);
    expect(info.description).toContain('simulated');
    const required: Readonly<Record<string, string>> = {
      orderbook: '?ticker_id=pBTC_PRV',
      candles: '?ticker_id=pBTC_PRV&interval=1h',
      historical_trades: '?ticker_id=pBTC_PRV',
      symbols: '?symbol=pBTC_PRV',
      history: '?symbol=pBTC_PRV&resolution=60&from=0&to=1800000000',
    };
    const statuses = (path: string) => Object.keys(paths[path].get.responses);
    expect(statuses('/udf/config')).toEqual(['200', '304', '429', '500']);
    expect(statuses('/udf/time')).toEqual(['200', '429', '500']);
    for (const path of Object.keys(paths)) await read(path + (required[path.split('/').at(-1) ?? ''] ?? ''));
  });
});

describe('real responses match the description', () => {
  const PLAIN: TestGatewayOptions = {};
  const V3_RECORDED: TestGatewayOptions = { ...RECORDED, sandbox: V3 };
  const WITHOUT_NODE: TestGatewayOptions = { without: 'NODE' };
  const WITHOUT_MARKET_DATA: TestGatewayOptions = { without: 'MARKET_DATA' };
  const WITHOUT_STATES: TestGatewayOptions = {
    ...RECORDED,
    before: ({ node }) => node.faults.set({ kind: 'state-error', because: 'too many open files' }),
  };
  const LIMITED: TestGatewayOptions = { config: { rateLimitPerSecond: 1, rateLimitBurst: 1 } };

  /** The gateway of the last test. The next one uses it too, if it has the same options. */
  let last: { readonly options: TestGatewayOptions; readonly rest: Awaited<ReturnType<typeof openRest>> } | undefined;
  async function closeLast(): Promise<void> {
    await last?.rest.app.close();
    await last?.rest.sandbox.close();
    last = undefined;
  }
  async function restOf(options: TestGatewayOptions) {
    if (last?.options === options) return last.rest;
    await closeLast();
    const isRecorded = options.config?.historyBackfillHours === 0;
    const rest = await openRest(isRecorded ? { ...options, store: createStoreModel() } : options, startGateway);
    last = { options, rest };
    return rest;
  }
  afterAll(closeLast);

  test.each<[string, number, TestGatewayOptions?, RequestInit?]>([
    ['/pairs', 200],
    ['/tickers', 200],
    ['/orderbook?ticker_id=pBTC_PRV', 200],
    ['/orderbook?ticker_id=pPOWR_PRV&depth=7&uncrossed=true', 200],
    ['/orderbook?ticker_id=pSWAP_pUSDT', 200],
    ['/orderbook', 400],
    ['/orderbook?ticker_id=nothing', 404],
    ['/pairs', 304, PLAIN, { headers: { 'if-none-match': '*' } }],
    ['/tickers', 400, PLAIN, { headers: { 'x-pdex-min-height': 'x' } }],
    ['/pairs', 412, PLAIN, { headers: { 'x-pdex-min-height': '9000000' } }],
    ['/candles?ticker_id=pBTC_PRV&interval=1h', 503],
    ['/udf/config', 304, PLAIN, { headers: { 'if-none-match': '*' } }],
    ['/udf/symbols?symbol=pBTC_PRV', 200],
    ['/udf/symbols?symbol=nothing', 404],
    ['/udf/symbols?symbol=pBTC_PRV', 412, PLAIN, { headers: { 'x-pdex-min-height': '9000000' } }],
    ['/udf/search?limit=x', 400],
    ['/udf/search?query=usd&type=crypto&exchange=pDEX&limit=3', 200],
    ['/tickers', 429, LIMITED],
    ['/udf/config', 429, LIMITED],
    ['/tickers', 200, WITHOUT_NODE],
    ['/candles?ticker_id=pBTC_PRV&interval=1h', 503, WITHOUT_NODE],
    ['/pairs', 503, WITHOUT_MARKET_DATA],
    ['/orderbook?ticker_id=pBTC_PRV', 503, WITHOUT_MARKET_DATA],
    ['/udf/symbols?symbol=pBTC_PRV', 503, WITHOUT_MARKET_DATA],
    ['/candles?ticker_id=pBTC_PRV&interval=1h&from=0&to=1800000000&limit=3&format=json', 200, RECORDED],
    ['/candles?ticker_id=pBTC_PRV&interval=2h', 400, RECORDED],
    ['/candles?ticker_id=pFXC_PRV&interval=1h', 400, RECORDED],
    ['/candles?ticker_id=nothing&interval=1h', 404, RECORDED],
    ['/candles?ticker_id=pBTC_PRV&interval=1h', 304, RECORDED, { headers: { 'if-none-match': '*' } }],
    ['/historical_trades?ticker_id=PRV_pUSDT', 404, RECORDED],
    ['/udf/history?symbol=pBTC_PRV&resolution=1&from=0&to=1800000000&countback=9', 200, RECORDED],
    ['/udf/history?symbol=pBTC_PRV&resolution=1&from=0&to=60', 200, RECORDED],
    ['/udf/history?symbol=pFXC_PRV&resolution=1&from=0&to=60', 400, RECORDED],
    ['/candles?ticker_id=pBTC_PRV&interval=1h', 503, WITHOUT_STATES],
    ['/tickers', 200, V3_RECORDED],
    ['/candles?ticker_id=pBTC_PRV&interval=1h', 200, V3_RECORDED],
    ['/historical_trades?ticker_id=PRV_pUSDT&limit=500', 200, V3_RECORDED],
    ['/historical_trades?ticker_id=PRV_pUSDT&pool_id=x&type=buy&start_time=0&end_time=1800000000000', 404, V3_RECORDED],
    ['/historical_trades?ticker_id=PRV_pUSDT', 304, V3_RECORDED, { headers: { 'if-none-match': '*' } }],
    ['/historical_trades?ticker_id=PRV_pUSDT&limit=501', 400, V3_RECORDED],
    ['/historical_trades?ticker_id=PRV_pUSDT', 503, { sandbox: V3 }],
  ])('%s: %i', async (path, status, options = PLAIN, init) => {
    const { get } = await restOf(options);
    // A request that costs more than the burst is admitted while the client has all of its points.
    const url = path.startsWith('/udf') ? path : BASE + path;
    if (status === 429) await get(url);
    const response = await get(url, init);
    expect(response.status).toBe(status);

    const { parameters, responses } = openApi.paths[url.split('?')[0] ?? ''].get;
    const { headers, content } = resolve(responses[status]);
    const described = Object.keys(headers).map((name) => name.toLowerCase());
    const technical = ['access-control-allow-origin', 'access-control-expose-headers', 'connection', 'date'];
    const known = [...described, ...technical, 'keep-alive', 'content-type', 'content-length'];
    expect([...response.headers.keys()].filter((name) => !known.includes(name))).toEqual([]);
    const sent = [...new URLSearchParams(path.split('?')[1]).keys()];
    const names = parameters.map((parameter: object) => resolve(parameter).name);
    expect(sent.filter((name) => !names.includes(name))).toEqual([]);

    if (content === undefined) expect(await response.text()).toBe('');
    else {
      expect(response.headers.get('content-type')).toBe('application/json');
      const { schema } = content['application/json'];
      const body = await response.json();
      expect(await errorsOfSchema(schema.$ref, body)).toEqual([]);
      expect(membersNotIn(resolve(schema), body)).toEqual([]);
    }
  });
});
