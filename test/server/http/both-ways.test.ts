import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { startGatewayForTest, startGatewayForTests } from '../../support/gateway.ts';

/** A plain request is answered by the handler of plain requests, and any other by Yoga, with or without a server. */
const gateway = startGatewayForTests({
  isSandbox: false,
  config: { headPollMs: 60_000, marketPollMs: 60_000, maxBodyBytes: 4_000, maxOperationsPerRequest: 3 },
});

type Sent = { readonly method: string; readonly search?: string; readonly type?: string; readonly body?: string };
type Received = { readonly status: number; readonly headers: object; readonly body: string };

const JSON_TYPE = 'application/json';
const get = (search: string): Sent => ({ method: 'GET', search });
const post = (body: string, type = JSON_TYPE): Sent => ({ method: 'POST', body, type });
const query = (text: string) => post(JSON.stringify({ query: text }));

/** The headers that say something about the response, and not about its connection or its request. */
const HEADERS = ['content-type', 'allow', 'accept-post', 'retry-after', 'x-pdex-height'];

async function overHttp({ method, search = '', type, body }: Sent, accept: string): Promise<Received> {
  const headers = { accept, ...(type && { 'content-type': type }) };
  const response = await request(gateway.url + search, { method: method as 'GET', headers, body: body ?? null });
  const entries = HEADERS.map((name) => [name, response.headers[name]]);
  return { status: response.statusCode, headers: Object.fromEntries(entries), body: await response.body.text() };
}

async function byFetch({ method, search = '', type, body }: Sent, accept: string): Promise<Received> {
  const headers = { accept, ...(type && { 'content-type': type }) };
  const init = { method, headers, ...(body !== undefined && { body }) };
  const response = await gateway.app.fetch(new Request(gateway.url + search, init));
  const entries = HEADERS.map((name) => [name, response.headers.get(name) ?? undefined]);
  return { status: response.status, headers: Object.fromEntries(entries), body: await response.text() };
}

const REQUESTS: Readonly<Record<string, Sent>> = {
  'a query': query('{ beaconHeight }'),
  'a query by GET': get('?query={beaconHeight}'),
  'an array': post('[{"query":"{ beaconHeight }"},{"query":"{ nothing }"},null]'),
  'an array with entries that are none': post('[1,"a",{"query":1}]'),
  'an array with a subscription': post('[{"query":"subscription { head { beaconHeight } }"}]'),
  'an empty array': post('[]'),
  'an array that is too long': post('[{},{},{},{}]'),
  'no JSON': post('x'),
  'an empty body': post(''),
  'JSON that is no object': post('1'),
  null: post('null'),
  'a body that is too large': query(`{ beaconHeight } # ${'x'.repeat(4_000)}`),
  'no query': post('{}'),
  'no query by GET': get(''),
  'a query that is no string': post('{"query":1}'),
  'variables that are no object': post('{"query":"{ beaconHeight }","variables":[]}'),
  'extensions that are no object': post('{"query":"{ beaconHeight }","extensions":"x"}'),
  'a name that is no string': post('{"query":"{ beaconHeight }","operationName":5}'),
  'an unknown parameter': post('{"query":"{ beaconHeight }","other":1}'),
  'an unknown parameter with a long name': post(`{"query":"{ beaconHeight }","${'o'.repeat(900)}":1}`),
  'variables by GET that are no JSON': get('?query={beaconHeight}&variables=x'),
  'variables by GET that are no object': get('?query={beaconHeight}&variables=1'),
  'a URL that is not UTF-8': get('?query={beaconHeight}%23%ff'),
  'white space before the object': post(' \n{"query":"{ beaconHeight }"}'),
  'a byte order mark': post('\ufeff{"query":"{ beaconHeight }"}'),
  'a syntax error': query('{'),
  'an unknown field': query('{ nothing }'),
  'an unknown operation': post('{"query":"query A { beaconHeight }","operationName":"B"}'),
  'a mutation': query('mutation { nothing }'),
  'an unknown document': post('{"documentId":"nothing"}'),
  'an unknown persisted query': post(
    `{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"${'0'.repeat(64)}"}}}`,
  ),
  'a height that is far ahead': post('{"query":"{ beaconHeight }","extensions":{"minHeight":900000000}}'),
  'too complex': query(
    `{ ${Array.from({ length: 60 }, (_, n) => `a${n}: poolPairs(first: 500) { nodes { id } }`).join(' ')} }`,
  ),
  'a subscription': query('subscription { head { beaconHeight } }'),
  'a subscription that is refused': query('subscription { head { nothing } }'),
  text: post('{"query":"{ beaconHeight }"}', 'text/plain'),
  'a type that is the name of a member of all objects': post('{"query":"{ beaconHeight }"}', 'constructor'),
  'a form': post('query={beaconHeight}', 'application/x-www-form-urlencoded'),
  'GraphQL as text': post('{ beaconHeight }', 'application/graphql'),
  'another method': { method: 'PUT', type: JSON_TYPE, body: '{"query":"{ beaconHeight }"}' },
};

const ACCEPTS = [JSON_TYPE, 'application/graphql-response+json', 'image/png'];

describe.each(ACCEPTS)('a client that accepts %s gets the same response over HTTP and from fetch for', (accept) => {
  test.each(Object.entries(REQUESTS))('%s', async (_name, sent) => {
    const received = await overHttp(sent, accept);
    expect(received.status).toBeGreaterThanOrEqual(200);
    expect(received).toEqual(await byFetch(sent, accept));
  });
});

describe('a compressed body is refused on both ways', () => {
  test.each([JSON_TYPE, 'text/event-stream'])('%s', async (accept) => {
    const headers = { accept, 'content-type': JSON_TYPE, 'content-encoding': 'gzip' };
    const response = await request(gateway.url, { method: 'POST', headers, body: 'x' });
    expect([response.statusCode, response.headers['accept-encoding']]).toEqual([415, 'identity']);
    expect(await response.body.text()).toContain('Send the body without Content-Encoding.');
  });
});

describe('a body whose coding is identity is read on both ways, also if the name has capital letters', () => {
  test.each([JSON_TYPE, 'text/event-stream'])('%s', async (accept) => {
    for (const coding of ['identity', 'Identity', '']) {
      const headers = { accept, 'content-type': JSON_TYPE, 'content-encoding': coding };
      const response = await request(gateway.url, { method: 'POST', headers, body: '{"query":"{ beaconHeight }"}' });
      expect(response.statusCode).toBe(200);
      expect(await response.body.text()).toContain('beaconHeight');
    }
  });
});

describe('a client without points is refused on both ways', () => {
  test.each([
    [JSON_TYPE, JSON_TYPE],
    ['text/event-stream', JSON_TYPE],
    [JSON_TYPE, 'application/graphql'],
  ])('that accepts %s and sends %s', async (accept, type) => {
    const { app } = await startGatewayForTest({ config: { rateLimitPerSecond: 1, rateLimitBurst: 1 } });
    const at = await app.listen(0, '127.0.0.1');
    const headers = { accept, 'content-type': type };
    const ask = () => request(at, { method: 'POST', headers, body: '{"query":"{ __typename }"}' });
    await (await ask()).body.dump();
    const { statusCode, headers: received, body } = await ask();
    expect([statusCode, received['content-type'], received['retry-after']]).toEqual([
      429,
      `${JSON_TYPE}; charset=utf-8`,
      '1',
    ]);
    expect(received['ratelimit']).toBe('"default";r=0;t=1');
    expect(await body.json()).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] });
  });
});
