import { once } from 'node:events';
import { connect } from 'node:net';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { startGatewayForTests } from '../../support/gateway.ts';
import { sumOf } from '../../support/metrics.ts';
import { nextMessage, openSocket } from '../../support/transports.ts';

const gateway = startGatewayForTests({ config: { maxOperationsPerRequest: 3 } });

const JSON_TYPE = 'application/json';
const RESPONSE_TYPE = 'application/graphql-response+json';
const HEIGHT = '{"query":"{beaconHeight}"}';

type Sent = {
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer | AsyncIterable<Buffer>;
  readonly search?: string;
};

async function send({ headers = { 'content-type': JSON_TYPE }, body, search = '' }: Sent) {
  const method = body === undefined ? 'GET' : 'POST';
  const response = await request(gateway.url + search, { method, headers, body: (body ?? null) as string | null });
  const text = await response.body.text();
  return { status: response.statusCode, headers: response.headers, answer: JSON.parse(text) };
}

/** A body without a content length. */
async function* chunksOf(body: string): AsyncGenerator<Buffer> {
  yield Buffer.from(body);
}

const refusedWith = (message: RegExp | string) => ({
  errors: [{ message: expect.stringMatching(message), extensions: { code: 'BAD_USER_INPUT' } }],
});

describe('a body', () => {
  test.each([
    'APPLICATION/JSON',
    'Application/Json ; Charset=UTF-8',
    'application/json;charset="utf-8"',
    'application/json; charset=utf8; profile="x"',
    'application/graphql+json',
  ])('of the type %s is JSON', async (type) => {
    const { height } = gateway.sandbox.chain.tip;
    // With a content length, and without, where Yoga reads it.
    for (const body of [HEIGHT, chunksOf(HEIGHT)]) {
      const { status, answer } = await send({ headers: { 'content-type': type }, body });
      expect([status, answer]).toEqual([200, { data: { beaconHeight: height } }]);
    }
  });

  test.each([
    ['text', { 'content-type': 'text/plain' }],
    ['no type', {}],
    ['a type that only begins the same', { 'content-type': 'application/jsonp' }],
    ['a type that is the name of a member of all objects', { 'content-type': 'constructor' }],
    ['JSON in another charset', { 'content-type': 'application/json; charset=latin1' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['files', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['compressed JSON', { 'content-type': JSON_TYPE, 'content-encoding': 'gzip' }],
  ])('of %s is refused with an explanation', async (_name, headers) => {
    for (const accept of [JSON_TYPE, RESPONSE_TYPE]) {
      const { status, headers: answered, answer } = await send({ headers: { ...headers, accept }, body: HEIGHT });
      expect([status, answered['content-type']]).toEqual([415, `${accept}; charset=utf-8`]);
      expect(answer).toEqual(refusedWith(/(^| )Send the body (as JSON|without Content-Encoding)/));
    }
  });

  test.each([
    ['is not JSON', 'x', /not valid JSON/],
    ['is empty', ' ', /not valid JSON/],
    ['is not an object', '1', /JSON object/],
    ['is null', 'null', /JSON object/],
    ['is not UTF-8', Buffer.from('{"query":"{beaconHeight}","variables":{"a":"\xff"}}', 'latin1'), /not valid UTF-8/],
    [
      'is not UTF-8 where it is a list',
      Buffer.from('[{"query":"{beaconHeight # \xc3\x28\\n}"}]', 'latin1'),
      /not valid UTF-8/,
    ],
    ['is not UTF-8 in its query', Buffer.from('{"query":"{beaconHeight # \xe2\x82\\n}"}', 'latin1'), /not valid UTF-8/],
  ])('that %s is refused', async (_name, body, message) => {
    for (const accept of [JSON_TYPE, RESPONSE_TYPE]) {
      const { status, answer } = await send({ headers: { 'content-type': JSON_TYPE, accept }, body });
      expect([status, answer]).toEqual([400, refusedWith(message)]);
    }
  });

  test.each([
    ['has no query', '{}', 'Must provide query string.'],
    [
      'has a typing error',
      '{"variables":{},"qeury":"{beaconHeight}"}',
      'Must provide query string. The body has "qeury".',
    ],
    [
      'has only a long name',
      `{"${'x'.repeat(900)}":1}`,
      `Must provide query string. The body has "${'x'.repeat(100)}".`,
    ],
    [
      'has a name that is cut within a character',
      `{"${'x'.repeat(99)}\u{1f600}":1}`,
      `Must provide query string. The body has "${'x'.repeat(99)}\ufffd".`,
    ],
    ['has half of a character', '{"\\ud83d":1}', 'Must provide query string. The body has "\ufffd".'],
    [
      'has a name that is no string',
      '{"query":"{beaconHeight}","operationName":5}',
      /^Expected "operationName" param to be a string/,
    ],
  ])('that %s is not well-formed', async (_name, body, message) => {
    for (const accept of [JSON_TYPE, RESPONSE_TYPE]) {
      const { status, answer } = await send({ headers: { 'content-type': JSON_TYPE, accept }, body });
      expect([status, answer]).toEqual([400, refusedWith(message)]);
    }
  });

  // GraphQL over HTTP, JSON Encoding: "Servers receiving a request with additional properties MUST ignore properties they do not
  // understand."
  test('may have additional properties', async () => {
    const body = '{"query":"{beaconHeight}","key":"a","__proto__":{"query":1}}';
    const data = { beaconHeight: gateway.sandbox.chain.tip.height };
    expect(await send({ body })).toMatchObject({ status: 200, answer: { data } });
    expect(await send({ body: chunksOf(body) })).toMatchObject({ status: 200, answer: { data } });
    expect(await send({ body: `[${body}]` })).toMatchObject({ status: 200, answer: [{ data }] });
    const headers = { 'content-type': JSON_TYPE };
    const request = new Request(gateway.url, { method: 'POST', headers, body });
    expect(await (await gateway.app.fetch(request)).json()).toEqual({ data });
    const socket = await openSocket(gateway.url);
    socket.send(`{"id":"1","type":"subscribe","payload":${body}}`);
    expect(JSON.parse(await nextMessage(socket))).toMatchObject({ type: 'next', payload: { data } });
    socket.close();
  });

  // GraphQL over HTTP, Status Codes, "Operation cannot be determined": the request is well-formed.
  test.each([
    ['unknown', '{"query":"query A {beaconHeight}","operationName":"B"}'],
    ['ambiguous', '{"query":"query A {beaconHeight} query B {beaconHeight}"}'],
  ])('whose operation is %s has the status of an operation that is not executed', async (_name, body) => {
    const { query, ...others } = JSON.parse(body);
    const search = `?${new URLSearchParams({ query, ...others })}`;
    for (const [accept, expected] of [
      [JSON_TYPE, 200],
      [RESPONSE_TYPE, 400],
    ] as const)
      for (const sent of [{ body }, { search }]) {
        const headers = { accept, ...('body' in sent && { 'content-type': JSON_TYPE }) };
        const { status, answer } = await send({ headers, ...sent });
        expect([status, answer]).toEqual([expected, refusedWith(/^Could not determine what operation to execute\.$/)]);
      }
  });

  test('in UTF-8 is decoded', async () => {
    const body = JSON.stringify({ query: 'query ($id: ID!) { node(id: $id) { id } }', variables: { id: 'é€😀' } });
    const { answer } = await send({ body });
    expect(answer.errors[0].message).toContain('é€😀');
  });

  test('that is too large is refused with its code, also without a content length', async () => {
    const body = JSON.stringify({ query: '{ beaconHeight }', variables: { text: 'x'.repeat(262_144) } });
    for (const sent of [body, chunksOf(body)]) {
      const { status, answer } = await send({ body: sent });
      const error = { message: 'Request body too large', extensions: { code: 'QUERY_TOO_COMPLEX' } };
      expect([status, answer]).toEqual([413, { errors: [error] }]);
    }
  });

  test('of several operations has an error in place of each invalid one', async () => {
    const { status, answer } = await send({ body: `[null,1,${HEIGHT}]` });
    expect([status, answer]).toEqual([
      200,
      [
        refusedWith('Must provide query string'),
        refusedWith('Expected params to be an object'),
        { data: { beaconHeight: gateway.sandbox.chain.tip.height } },
      ],
    ]);
  });
});

describe('a URL', () => {
  test.each([
    ['is not UTF-8', '?query={beaconHeight}%23%ff'],
    ['is not UTF-8 in its variables', '?query={beaconHeight}&variables={"a":"%c3%28"}'],
    ['has variables that are not JSON', '?query={beaconHeight}&variables=x'],
  ])('that %s is refused', async (_name, search) => {
    const { status, answer } = await send({ headers: {}, search });
    expect([status, answer]).toEqual([
      400,
      refusedWith(/^(The URL is not valid UTF-8|A parameter of the URL is not valid JSON)\.$/),
    ]);
  });

  test('has parameters that are empty, as if it had none', async () => {
    const search = '?query={beaconHeight}&operationName=&variables=&extensions=';
    const { status, answer } = await send({ headers: {}, search });
    expect([status, answer]).toEqual([200, { data: { beaconHeight: expect.any(Number) } }]);
  });

  test('without a query is not well-formed', async () => {
    for (const accept of [JSON_TYPE, RESPONSE_TYPE])
      for (const search of ['', '?query=', '?qeury={beaconHeight}']) {
        const { status, answer } = await send({ headers: { accept }, search });
        expect([status, answer]).toEqual([400, refusedWith(/^Must provide query string\.$/)]);
      }
  });

  test('may contain percent signs that encode nothing', async () => {
    const search = '?query={beaconHeight}%23 100% %c3%a9'.replaceAll(' ', '+');
    expect((await send({ headers: {}, search })).status).toBe(200);
  });
});

describe('a request that is no HTTP request of an allowed size', () => {
  /** Sends bytes, and returns the response when the gateway has closed the connection. */
  async function sendRaw(text: string) {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(text);
    const [head = '', body = ''] = String(Buffer.concat(await socket.toArray())).split('\r\n\r\n');
    const [line, ...headers] = head.split('\r\n');
    return { line, headers, body };
  }

  const counted = async () => {
    const { body } = await request(new URL('/metrics', gateway.url));
    return sumOf(await body.text(), 'pdex_errors_total', { code: 'BAD_USER_INPUT' });
  };

  // RFC 6585, 5: the response may say which header fields are too large. Clients send all of it before they read.
  test.each([
    ['headers', `GET /graphql HTTP/1.1\r\nHost: x\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['headers of 4 MB', `GET /graphql HTTP/1.1\r\nHost: x\r\nx-long: ${'x'.repeat(4_000_000)}\r\n\r\n`],
    ['a URL', `GET /graphql?query={beaconHeight}%23${'x'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`],
  ])('with %s over the limit is told the limit', async (_name, text) => {
    const before = await counted();
    const { line, headers, body } = await sendRaw(text);
    const message =
      'The URL and the headers of a request have more than 16384 bytes. Send a long query as the body of a POST.';
    expect([line, JSON.parse(body)]).toEqual(['HTTP/1.1 431 Request Header Fields Too Large', refusedWith(message)]);
    expect(headers).toEqual([
      'content-type: application/json; charset=utf-8',
      `content-length: ${body.length}`,
      'connection: close',
    ]);
    expect(await counted()).toBe(before + 1);
  });

  test.each(['no HTTP\r\n\r\n', 'GET /health HTTP/1.1\r\nHost: x\r\nx y: z\r\n\r\n'])(
    'is refused with an explanation: %j',
    async (text) => {
      const { line, body } = await sendRaw(text);
      const message = 'The request is not valid HTTP.';
      expect([line, JSON.parse(body)]).toEqual(['HTTP/1.1 400 Bad Request', refusedWith(message)]);
    },
  );

  test('in the middle of an event stream ends the stream, and is not answered in it', async () => {
    const query = encodeURIComponent('subscription { head { beaconHeight } }');
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(`GET /graphql?query=${query} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n`);
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
      if (received.includes('beaconHeight')) socket.write('no HTTP\r\n\r\n');
    });
    await once(socket, 'close');
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received).not.toContain('not valid HTTP');
  });
});

test('a client that accepts no supported media type gets their names, and nothing is executed', async () => {
  const calls = gateway.sandbox.marketData.calls('orderbook');
  const body = '{"query":"{orderBook(tickerId:\\"pBTC_PRV\\"){tickerId}}"}';
  for (const accept of ['image/png', 'text/html', 'application/json;charset=latin1', 'application/json;q=0']) {
    const { status, headers, answer } = await send({ headers: { 'content-type': JSON_TYPE, accept }, body });
    expect([accept, status, headers['content-type']]).toEqual([accept, 406, `${JSON_TYPE}; charset=utf-8`]);
    expect(answer).toEqual(
      refusedWith(/^The Accept header must allow application\/graphql-response\+json or application\/json/),
    );
  }
  expect(gateway.sandbox.marketData.calls('orderbook')).toBe(calls);
});

describe('an argument that is null after coercion', () => {
  const CASES = [
    [
      'of a field costs that field',
      'query ($id: String = "x") { service { sandbox } orderBook(tickerId: $id) { tickerId } }',
      { data: { service: { sandbox: true }, orderBook: null }, path: ['orderBook'] },
    ],
    [
      'of a directive costs the object around it',
      'query ($id: Boolean = true) { service { sandbox } poolPairs(first: 1) { pageInfo { hasNextPage @include(if: $id) } } }',
      { data: { service: { sandbox: true }, poolPairs: null }, path: ['poolPairs', 'pageInfo'] },
    ],
    [
      'of a directive of the whole operation costs all',
      'query ($id: Boolean = true) { service { sandbox } beaconHeight @skip(if: $id) }',
      { data: null, path: undefined },
    ],
  ] as const;

  test.each(CASES)('%s, with its path, on every transport', async (_name, query, { data, path }) => {
    const operation = { query, variables: { id: null } };
    const error = {
      message: expect.stringMatching(/must not be null|not to be null/),
      locations: expect.any(Array),
      ...(path && { path }),
      extensions: { code: 'BAD_USER_INPUT' },
    };
    for (const accept of [JSON_TYPE, RESPONSE_TYPE, `multipart/mixed;q=0.1, ${RESPONSE_TYPE}`]) {
      const headers = { 'content-type': JSON_TYPE, accept };
      const posted = await send({ headers, body: JSON.stringify(operation) });
      expect([posted.status, posted.answer]).toEqual([200, { errors: [error], data }]);
      const batched = await send({ headers, body: JSON.stringify([operation]) });
      expect([batched.status, batched.answer]).toEqual([200, [{ errors: [error], data }]]);
      const search = new URLSearchParams({ query, variables: '{"id":null}' });
      const got = await send({ headers: { accept }, search: `?${search}` });
      expect([got.status, got.answer]).toEqual([200, { errors: [error], data }]);
    }
    const socket = await openSocket(gateway.url);
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: operation }));
    const { payload } = JSON.parse(await nextMessage(socket));
    socket.close();
    expect(payload).toEqual({ errors: [error], data });
  });

  test('is a bad request if nothing can be executed', async () => {
    const query = 'query ($id: String!) { orderBook(tickerId: $id) { tickerId } }';
    const body = JSON.stringify({ query, variables: { id: null } });
    const { status, answer } = await send({ headers: { 'content-type': JSON_TYPE, accept: RESPONSE_TYPE }, body });
    expect([status, Object.keys(answer), answer.errors[0].extensions]).toEqual([
      400,
      ['errors'],
      { code: 'BAD_USER_INPUT' },
    ]);
  });
});

describe('on a websocket', () => {
  test.each([
    ['an unknown operation name', { query: 'query A { beaconHeight }', operationName: 'B' }],
    ['no name for several operations', { query: 'query A { beaconHeight } query B { beaconHeight }' }],
    ['a document without an operation', { query: 'fragment F on Query { beaconHeight }' }],
  ])('%s is an error with its code', async (_name, payload) => {
    const socket = await openSocket(gateway.url);
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload }));
    const answer = JSON.parse(await nextMessage(socket));
    expect([answer.type, answer.id]).toEqual(['error', '1']);
    expect(answer.payload[0].extensions.code).toMatch(/^(BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED)$/);
    socket.close();
  });

  test.each([
    ['a text', false, 1007],
    ['bytes', true, 4400],
  ])('%s that is not UTF-8 is not executed, and closes the socket', async (_name, binary, code) => {
    const socket = await openSocket(gateway.url);
    socket.on('error', () => {});
    const message = '{"type":"subscribe","id":"1","payload":{"query":"{beaconHeight # \xff\\n}"}}';
    const [closed] = await Promise.all([
      Promise.race([once(socket, 'close'), once(socket, 'message').then(String)]),
      socket.send(Buffer.from(message, 'latin1'), { binary }),
    ]);
    expect(closed[0]).toBe(code);
  });
});
