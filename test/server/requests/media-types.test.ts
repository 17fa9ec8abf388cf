import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNegotiation, isCompressed } from '../../../src/server/requests/media-types.ts';
import { startGateway } from '../../support/gateway.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;
beforeAll(async () => {
  gateway = await startGateway();
  await gateway.ask('{ beaconHeight }');
});
afterAll(() => gateway.close());

const ranges = fc.constantFrom(
  'application/json',
  'application/graphql-response+json',
  'application/*',
  'Application/JSON',
  '*/*',
  '*/json',
  'text/html',
  'text/event-stream',
  'multipart/mixed',
  'json',
  '*',
  '',
);
const parameters = fc.constantFrom(
  '',
  ';q=0.5',
  '; charset=utf-8',
  ';charset=UTF-8',
  ';charset=latin1',
  ';q=1;charset=utf-16',
);
const accepts = fc
  .array(fc.tuple(ranges, parameters), { maxLength: 4 })
  .map((items) => items.map(([range, more]) => range + more).join(', '));

test('the accepted JSON type is the one of Yoga', async () => {
  const accepted = createNegotiation();
  await fc.assert(
    fc.asyncProperty(accepts, async (accept) => {
      const url = 'http://gateway/graphql?query={beaconHeight}';
      const response = await gateway.app.fetch(new Request(url, { headers: { accept } }));
      const type = response.headers.get('content-type') ?? '';
      await response.text();
      const found = accepted(accept).json;
      expect([accept, found === undefined ? undefined : `${found}; charset=utf-8`]).toEqual([
        accept,
        response.status === 200 && type.includes('json') ? type : undefined,
      ]);
    }),
    { numRuns: 200 },
  );
});

test('no header accepts everything, as JSON', () => {
  expect(createNegotiation()(undefined)).toEqual({ json: 'application/json', events: true, multipart: true });
});

test('values of the header are read once, as long as clients do not send many others', () => {
  const accepted = createNegotiation();
  const first = accepted('application/json');
  expect(accepted('application/json')).toBe(first);
  for (let n = 0; n < 300; n++) accepted(`application/json;n=${n}`);
  expect(accepted('application/json')).not.toBe(first);
});

test.each([
  ['application/json;q=0.1, application/graphql-response+json', 'application/graphql-response+json'],
  ['application/graphql-response+json;q=0.9, application/json', 'application/json'],
  ['application/json;q=0, */*', 'application/graphql-response+json'],
  ['*/*;q=0.1, application/graphql-response+json;q=0.2', 'application/graphql-response+json'],
  ['application/json;q=x, application/graphql-response+json;q=0.5', 'application/graphql-response+json'],
  ['*/*, application/graphql-response+json', 'application/graphql-response+json'],
  ['application/json;q=0', undefined],
])('%s is decided by weight', (accept, type) => {
  expect(createNegotiation()(accept).json).toBe(type);
});

test('only the first 1,000 characters of the header are read', () => {
  const accepted = createNegotiation();
  const others = 'text/html,'.repeat(99);
  expect(accepted(`${others}*/*`).json).toBe('application/json');
  expect(accepted(`${others}${others}*/*`).json).toBeUndefined();
  expect(accepted(`${others}${others}*/*`)).toBe(accepted(`${others}${others}`));
});

test.each([
  [undefined, false],
  ['', false],
  [' Identity\t', false],
  ['\u00a0', false],
  ['gzip', true],
  ['identity, gzip', true],
])('whether %j is a coding', (contentEncoding, expected) => {
  expect(isCompressed(contentEncoding)).toBe(expected);
});

test('a coding behind 60,000 spaces takes no seconds to read', () => {
  const before = process.cpuUsage();
  expect(isCompressed(`${'\u00a0'.repeat(60_000)}x`)).toBe(true);
  expect(process.cpuUsage(before).user).toBeLessThan(500_000);
});
