import { expect, test } from 'vitest';
import { startGatewayForTest } from '../../support/gateway.ts';
import { serveGatewayForTest } from '../../support/served-gateway.ts';

/** A document of which each step takes a turn of the event loop. Documents with different names are not cached for each other. */
const longDocument = (name: string) =>
  `query ${name} { ${Array.from({ length: 400 }, (_, n) => `a${n}: beaconHeight`).join(' ')} }`;

const post = (query: string, headers: Readonly<Record<string, string>> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ query }),
});

test('a long document does not wait for a flood of small requests, also if Yoga handles them', async () => {
  const { app, untilReady } = await startGatewayForTest();
  await untilReady();
  const request = async (query: string) => (await app.fetch(new Request('http://gateway/graphql', post(query)))).json();

  const small = Array.from({ length: 300 }, () => request('{ beaconHeight }'));
  let turns = 0;
  const count = () => {
    turns += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const { errors } = await request(longDocument('alone'));
  clearImmediate(counting);
  expect([errors, turns < 100]).toEqual([undefined, true]);
  for (const each of await Promise.all(small)) expect(each.errors).toBeUndefined();
});

test('a long document does not wait for all long documents of another client', async () => {
  const { url, untilReady } = await serveGatewayForTest({ config: { trustedProxies: ['loopback'] } });
  await untilReady();
  let answered = 0;
  const request = async (name: string, address: string) => {
    const response = await fetch(url, post(longDocument(name), { 'x-forwarded-for': address }));
    expect((await response.json()).errors).toBeUndefined();
    answered += 1;
    return answered;
  };

  const many = Array.from({ length: 40 }, (_, n) => request(`many${n}`, '192.0.2.1'));
  expect(await request('one', '192.0.2.2')).toBeLessThan(27);
  await Promise.all(many);
});
