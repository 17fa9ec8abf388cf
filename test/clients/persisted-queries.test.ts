import { createHash } from 'node:crypto';
import { gql, HttpLink } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { describe, expect, test } from 'vitest';
import { connectApollo } from '../support/apollo.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('Apollo Client with its persisted queries', () => {
  test.each([false, true])(
    'sends a query once, and then its hash alone, by GET: %s',
    async (useGETForHashedQueries) => {
      const gateway = await serveGatewayForTest();
      const asked: { readonly method: string | undefined; readonly hasText: boolean; readonly status: number }[] = [];
      const link = new PersistedQueryLink({ sha256, useGETForHashedQueries }).concat(
        new HttpLink({
          uri: gateway.url,
          async fetch(input, init) {
            const response = await fetch(input, init);
            const hasText = /[?&]query=|"query"/.test(`${input}${init?.body ?? ''}`);
            asked.push({ method: init?.method, hasText, status: response.status });
            return response;
          },
        }),
      );
      const client = connectApollo(gateway, { http: link });
      const query = gql`
      query Height {
        beaconHeight
      }
    `;
      for (let n = 0; n < 3; n++) {
        const { data } = await client.query({ query, fetchPolicy: 'no-cache' });
        expect(data).toEqual({ beaconHeight: gateway.sandbox.chain.tip.height });
      }
      const hashed = useGETForHashedQueries ? 'GET' : 'POST';
      expect(asked).toEqual([
        { method: hashed, hasText: false, status: 200 },
        { method: 'POST', hasText: true, status: 200 },
        { method: hashed, hasText: false, status: 200 },
        { method: hashed, hasText: false, status: 200 },
      ]);
    },
  );
});

describe('a query that is named by its hash', () => {
  const query = '{ beaconHeight }';
  const named = (sha256Hash: unknown, version: unknown = 1) => ({ persistedQuery: { version, sha256Hash } });

  async function open() {
    const gateway = await serveGatewayForTest();
    const post = async (body: object, accept = 'application/json') => {
      const headers = { 'content-type': 'application/json', accept };
      const response = await fetch(gateway.url, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, body: await response.json() };
    };
    const get = (extensions: object) =>
      fetch(`${gateway.url}?${new URLSearchParams({ extensions: JSON.stringify(extensions) })}`);
    return { ...gateway, post, get };
  }

  test('is not found before it was sent, whatever JSON the client accepts, and no cache keeps that', async () => {
    const { post, get } = await open();
    const notFound = {
      errors: [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }],
    };
    for (const accept of ['application/json', 'application/graphql-response+json']) {
      expect(await post({ extensions: named(sha256(query)) }, accept)).toEqual({ status: 200, body: notFound });
    }
    const got = await get(named(sha256(query)));
    expect([got.status, got.headers.get('cache-control'), await got.json()]).toEqual([200, 'no-store', notFound]);
  });

  test('is not kept where the hash is of another text', async () => {
    const { post } = await open();
    const hash = sha256('{ pairs { id } }');
    expect(await post({ query, extensions: named(hash) })).toEqual({
      status: 400,
      body: { errors: [{ message: 'provided sha does not match query', extensions: { code: 'BAD_USER_INPUT' } }] },
    });
    expect((await post({ extensions: named(hash) })).body.errors[0].message).toBe('PersistedQueryNotFound');
  });

  test.each([
    ['another version', named(sha256(query), 2)],
    ['no hash', named(undefined)],
    ['a hash that is no text', named(7)],
  ])('is refused with %s', async (_, extensions) => {
    const { post } = await open();
    const { status, body } = await post({ query, extensions });
    expect([status, body.errors[0].extensions]).toEqual([400, { code: 'BAD_USER_INPUT' }]);
  });

  test('is answered as a stream of events where it is a subscription, or where that is all that is accepted', async () => {
    const { post, url } = await open();
    const subscription = 'subscription { head { beaconHeight } }';
    expect((await post({ query: subscription, extensions: named(sha256(subscription)) })).status).toBe(406);
    await post({ query, extensions: named(sha256(query)) });
    for (const text of [subscription, query]) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ extensions: named(sha256(text)) }),
      });
      expect([text, response.headers.get('content-type')]).toEqual([text, 'text/event-stream']);
      await response.body?.cancel();
    }
  });
});
