import { describe, expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/domain/error-codes.ts';
import { MAX_ERRORS } from '../../src/errors.ts';
import { startGatewayForTests } from '../support/gateway.ts';
import { repeat } from '../support/operations.ts';
import { nextMessage, openSocket, TRANSPORTS } from '../support/transports.ts';

const gateway = startGatewayForTests({ config: { headPollMs: 60_000, maxOperationsPerRequest: 3 } });

/** A page of pools, in each of which that many prices fail. */
const badPrices = (prices: number, argument = '(decimals1: 99)') =>
  `poolPairs(first: 20) { nodes { key ${repeat(prices, (n) => `a${n}: price${argument}`)} } }`;

const more = (count: number) => ({
  message: `${count} more ${count === 1 ? 'error is' : 'errors are'} not reported.`,
  extensions: { code: 'TOO_MANY_ERRORS' },
});

describe('the first hundred errors are reported, and the number of further errors', () => {
  const query = `{ ${badPrices(30)} }`;

  test('as the documents say', () => {
    expect(ERROR_CODES.TOO_MANY_ERRORS.cause).toContain(`more than ${MAX_ERRORS} errors`);
  });

  test.each(Object.entries(TRANSPORTS))('by %s', async (_name, ask) => {
    const { data, errors = [] } = await ask(gateway.url, { query });
    expect(errors).toHaveLength(101);
    expect(errors[100]).toEqual(more(500));
    expect(errors[0]).toEqual({
      message: 'decimals1 is 99. It must be from 0 to 30.',
      path: ['poolPairs', 'nodes', 0, 'a0'],
      locations: [{ line: 1, column: query.indexOf('a0:') + 1 }],
      extensions: { code: 'BAD_USER_INPUT' },
    });
    const nodes = (data?.['poolPairs'] as { nodes: Record<string, unknown>[] } | undefined)?.nodes ?? [];
    expect(nodes).toHaveLength(20);
    for (const { key, ...prices } of nodes) {
      expect(key).toMatch(/^pdepool-/);
      expect(prices).toEqual(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`a${n}`, null])));
    }
  });

  test('by each operation of an array', async () => {
    const operations = [{ query }, { query: `{ ${badPrices(5)} }` }, { query: '{ nothing }' }];
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(gateway.url, { method: 'POST', headers, body: JSON.stringify(operations) });
    const answers: { errors: unknown[] }[] = await response.json();
    expect(answers.map(({ errors }) => errors.length)).toEqual([101, 100, 1]);
  });

  test('by each update of a subscription', async () => {
    const socket = await openSocket(gateway.url);
    const prices = repeat(30, (n) => `a${n}: price(decimals2: -1)`);
    const payload = { query: `subscription { prices { beaconHeight poolPairs { ${prices} } } }` };
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload }));
    const { errors, data } = JSON.parse(await nextMessage(socket)).payload;
    expect(errors).toHaveLength(101);
    expect(errors[100]).toEqual(more(data.prices.poolPairs.length * 30 - 100));
    expect(errors[0].locations).toEqual([{ line: 1, column: payload.query.indexOf('a0:') + 1 }]);
    socket.close();
  });

  test('with variables too, and if there is one too many', async () => {
    const { errors = [] } = await gateway.ask(
      'query ($d: Int) { a: poolPairs(first: 20) { nodes { a: price(decimals1: $d) b: price(decimals2: $d) c: spotPrice(decimals1: $d) d: exactPrice(decimals1: $d) e: inversePrice(decimals2: $d) } } b: poolPairs(first: 1) { nodes { price(decimals1: $d) } } }',
      { d: 31 },
    );
    expect(errors).toHaveLength(101);
    expect(errors[100]).toEqual(more(1));
  });
});

test('an invalid argument of many objects is checked once', async () => {
  const { captureStackTrace } = Error;
  let made = 0;
  // Every `GraphQLError` calls this, and nothing else here does.
  Error.captureStackTrace = (...args) => {
    made++;
    captureStackTrace(...args);
  };
  try {
    const { errors } = await gateway.ask(`{ ${badPrices(200)} b: ${badPrices(200, '(decimals2: -1)')} }`);
    expect(errors).toHaveLength(101);
    // One for each that is reported, made again at the border, and where Yoga writes it.
    expect(made).toBeLessThan(101 * 5);
  } finally {
    Error.captureStackTrace = captureStackTrace;
  }
});

test('an internal error has its stack trace in the log', async () => {
  const { head } = gateway.app.service.sources;
  const { isStale } = head;
  try {
    Object.assign(head, { isStale: () => brokenSource() });
    await gateway.ask('{ service { head { stale } } }');
  } finally {
    Object.assign(head, { isStale });
  }
  const [line] = gateway.lines.filter(({ msg }) => msg === 'internal error');
  expect((line as unknown as { err: { stack: string } }).err.stack).toContain('brokenSource');
});

function brokenSource(): never {
  throw new TypeError('a bug');
}

describe('an error of a variable says which variable, and where in it', () => {
  const query = 'query ($n: Int!, $f: PoolPairFilter) { poolPairs(first: $n, filter: $f) { totalCount } }';

  test.each(Object.entries(TRANSPORTS))('by %s', async (_name, ask) => {
    const at = (column: number) => ({ locations: [{ line: 1, column }], extensions: { code: 'BAD_USER_INPUT' } });
    expect(await ask(gateway.url, { query, variables: { f: { poolIds: ['a', 5] } } })).toEqual({
      errors: [
        {
          message: 'Variable "$n" has invalid value: Expected a value of non-null type "Int!" to be provided.',
          ...at(8),
        },
        {
          message: 'Variable "$f" has invalid value at .poolIds[1]: String cannot represent a non string value: 5',
          ...at(18),
        },
      ],
    });
  });
});

describe('messages quote what a client has sent, up to a length', () => {
  test.each([
    ['a number in the document', `{ poolPairs(first: ${'9'.repeat(200_000)}) { totalCount } }`, {}],
    ['the name of a field', `{ ${'x'.repeat(200_000)} }`, {}],
    ['a variable', 'query ($first: Int) { poolPairs(first: $first) { totalCount } }', { first: 'x'.repeat(200_000) }],
    ['a token of the syntax', `{ "${'x'.repeat(200_000)}" }`, {}],
    ['the name of a ticker', `{ orderBook(tickerId: "${'x'.repeat(900)}", depth: -1) { bestBid } }`, {}],
  ])('%s', async (_name, query, variables) => {
    const { errors = [] } = await gateway.ask(query, variables);
    expect(errors.length).toBeGreaterThan(0);
    for (const { message } of errors) expect(message.length).toBeLessThan(550);
  });

  test('a variable with an object that has more fields than any input type', async () => {
    const query =
      'query ($f: PoolPairFilter, $n: Int) { poolPairs(filter: $f) { totalCount } b: poolPairs(first: $n) { totalCount } }';
    const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`x${n}`, 1]));
    const { errors } = await gateway.ask(query, { f: { symbols: [fields(20_000)] } });
    expect(errors).toEqual([
      {
        message: 'Variable "$f" has invalid value: an object has 20000 fields. The maximum is 32.',
        locations: [{ line: 1, column: 8 }],
        extensions: { code: 'BAD_USER_INPUT' },
      },
    ]);
    // Variables that the operation does not declare are ignored.
    const { data } = await gateway.ask(query, { f: { symbols: [] }, other: fields(40) });
    expect(data).toEqual({ poolPairs: { totalCount: 0 }, b: { totalCount: expect.any(Number) } });
  });

  test('fragments in circles, each with all locations of its circle', async () => {
    const fragments = repeat(900, (n) => `fragment F${n} on Query { ...F${(n + 1) % 900} ...F0 }`);
    const { errors = [] } = await gateway.ask(`{ ...F0 } ${fragments}`);
    expect(errors).toHaveLength(101);
    expect(errors[0]).toHaveProperty('locations.length', 10);
    expect(JSON.stringify(errors).length).toBeLessThan(150_000);
  });

  test('many invalid variables', async () => {
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }';
    const { errors = [] } = await gateway.ask(query, { ids: Array(20_000).fill({}) });
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBeLessThan(102);
  });
});
