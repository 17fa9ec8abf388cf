import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { createClient as createSocketClient } from 'graphql-ws';
import { lastValueFrom } from 'rxjs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { codesThrown } from '../support/apollo.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';
import { endWithTest } from '../support/websocket.ts';

const HEIGHT = '{ beaconHeight }';

/** A gateway, and a `fetch` that keeps what clients send with it. */
async function open() {
  const gateway = await serveGatewayForTest();
  const sent: { readonly headers: Headers; readonly body: Record<string, unknown> }[] = [];
  const keepingFetch: typeof fetch = (input, init) => {
    sent.push({ headers: new Headers(init?.headers), body: JSON.parse(String(init?.body ?? '{}')) });
    return fetch(input, init);
  };
  return { ...gateway, sent, keepingFetch, height: gateway.sandbox.chain.tip.height };
}

describe('Apollo Client', () => {
  async function connect() {
    const gateway = await open();
    const client = new ApolloClient({
      link: new HttpLink({ uri: gateway.url, fetch: gateway.keepingFetch }),
      cache: new InMemoryCache(),
      clientAwareness: { name: 'a wallet', version: '1.2.3' },
    });
    onTestFinished(() => client.stop());
    return { ...gateway, client };
  }

  test('is answered with its name in headers and its library in extensions', async () => {
    const { client, sent, height } = await connect();
    expect(await client.query({ query: gql(HEIGHT) })).toEqual({ data: { beaconHeight: height } });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.headers.get('apollographql-client-name')).toBe('a wallet');
    expect(sent[0]?.body['extensions']).toEqual({
      clientLibrary: { name: '@apollo/client', version: expect.any(String) },
    });
  });

  test('learns what to do in the place of a multipart subscription, which then is not left open', async () => {
    const { client, sent, app } = await connect();
    const { error } = await lastValueFrom(client.subscribe({ query: gql`subscription { head { beaconHeight } }` }));
    expect(error?.message).toBe('A subscription requires a websocket, or a client that accepts text/event-stream.');
    expect(await codesThrown(Promise.reject(error))).toEqual(['BAD_USER_INPUT']);
    expect(sent[0]?.headers.get('accept')).toContain('multipart/mixed;boundary=graphql;subscriptionSpec=1.0');
    expect(app.service.sources.head.subscribers()).toBe(0);
  });
});

describe('other clients', () => {
  test("a network of Relay's documentation is answered", async () => {
    const { url, height } = await open();
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        Accept: 'application/graphql-response+json; charset=utf-8, application/json; charset=utf-8',
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ query: `query AppQuery ${HEIGHT}`, variables: {} }),
    });
    expect(response.headers.get('content-type')).toBe('application/graphql-response+json; charset=utf-8');
    expect(await response.json()).toEqual({ data: { beaconHeight: height } });
  });

  test('extensions of any name are taken, over HTTP and on a websocket', async () => {
    const { url, webSocketUrl, height } = await open();
    const params = { query: HEIGHT, extensions: { clientLibrary: { name: 'x' }, queryPlanner: true, other: [1] } };
    const headers = { 'content-type': 'application/json', 'apollo-query-planner': 'x', 'x-apollo-operation-name': 'x' };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(params) });
    expect(await response.json()).toEqual({ data: { beaconHeight: height } });

    const sockets = createSocketClient({ url: webSocketUrl, connectionParams: { token: 'x' } });
    endWithTest(sockets);
    expect((await sockets.iterate(params).next()).value).toEqual({ data: { beaconHeight: height } });
  });
});
