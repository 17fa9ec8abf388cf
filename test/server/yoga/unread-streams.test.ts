import { expect, test } from 'vitest';
import { startGatewayForTest, type TestGatewayOptions } from '../../support/gateway.ts';

const HEAD = { query: 'subscription { head { beaconHeight } }' };

async function open(options?: TestGatewayOptions) {
  const { app, sandbox } = await startGatewayForTest(options);
  const url = await app.listen(0, '127.0.0.1');
  const post = (body: unknown, accept: string) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept },
      body: JSON.stringify(body),
    });
  const started = async () => /type="subscribe".*/.exec(await (await fetch(new URL('/metrics', url))).text())?.[0];
  return { post, height: sandbox.chain.tip.height, listeners: app.service.sources.head.subscribers, started };
}

test.each([
  ['application/json', 'application/json'],
  ['application/graphql-response+json, application/json;q=0.9', 'application/graphql-response+json'],
  ['multipart/mixed;subscriptionSpec=1.0, application/json', 'application/json'],
])('a client that accepts only %s learns how to subscribe, and nothing is opened for it', async (accept, type) => {
  const { post, listeners, started } = await open();
  const response = await post(HEAD, accept);
  expect([response.status, response.headers.get('content-type')]).toEqual([406, `${type}; charset=utf-8`]);
  const message = 'A subscription requires a websocket, or a client that accepts text/event-stream.';
  expect(await response.json()).toEqual({ errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }] });
  expect([listeners(), await started()]).toEqual([0, undefined]);
});

test('a client that accepts only multipart responses learns the same in one part', async () => {
  const { post, started } = await open();
  const response = await post(HEAD, 'multipart/mixed');
  expect([response.status, response.headers.get('content-type')]).toEqual([406, 'multipart/mixed; boundary="-"']);
  expect(await response.text()).toContain('{"errors":[{"message":"A subscription requires a websocket, ');
  expect(await started()).toBeUndefined();
});

test('a subscription in an array is charged for its variables, as one that is sent alone', async () => {
  const rate = { rateLimitPerSecond: 1, rateLimitBurst: 10_000 };
  const query = 'subscription ($t: [TokenId!]) { prices(tokenIds: $t) { beaconHeight } }';
  const heavy = { query, variables: { t: Array(2_000).fill('0'.repeat(64)) } };
  const left = async (body: unknown) => {
    const { post } = await open({ config: { maxOperationsPerRequest: 3, ...rate } });
    return (await post(body, 'application/json')).headers.get('ratelimit')?.replace(/;t=.*/, '');
  };
  expect(await left([heavy])).toBe(await left(heavy));
});

test('a subscription among several operations of a request is refused by itself', async () => {
  const { post, height, listeners, started } = await open({ config: { maxOperationsPerRequest: 3 } });
  const response = await post([{ query: '{ beaconHeight }' }, HEAD, { query: '{ service { sandbox } }' }], '*/*');
  expect(await response.json()).toEqual([
    { data: { beaconHeight: height } },
    {
      errors: [
        {
          message: 'An array of operations cannot contain a subscription.',
          extensions: { code: 'BAD_USER_INPUT' },
        },
      ],
    },
    { data: { service: { sandbox: true } } },
  ]);
  expect([listeners(), await started()]).toEqual([0, undefined]);
});
