import { type Client, type ClientOptions, createClient, NetworkError } from 'graphql-sse';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type ServedGateway, serveGatewayForTest } from '../support/served-gateway.ts';

const HEAD = { query: 'subscription { head { beaconHeight } }' };
const head = (beaconHeight: number) => ({ data: { head: { beaconHeight } } });

function connect({ url }: ServedGateway, options: Partial<ClientOptions<false>> = {}): Client<false> {
  const client = createClient({ url, ...options });
  onTestFinished(() => client.dispose());
  return client;
}

describe('graphql-sse', () => {
  test('iterates over several heights, and ends where the reader leaves', async () => {
    const gateway = await serveGatewayForTest();
    const start = gateway.sandbox.chain.tip.height;
    const updates = [];
    for await (const update of connect(gateway).iterate(HEAD)) {
      updates.push(update);
      if (updates.length === 4) break;
      gateway.sandbox.advance();
    }
    expect(updates).toEqual([0, 1, 2, 3].map((n) => head(start + n)));
    await expect.poll(gateway.app.service.sources.head.subscribers).toBe(0);
  });

  test('answers a query, with variables, as a stream of one', async () => {
    const gateway = await serveGatewayForTest();
    const answers = [];
    const query = 'query ($first: Int) { poolPairs(first: $first) { totalCount nodes { __typename } } }';
    for await (const answer of connect(gateway).iterate({ query, variables: { first: 1 } })) answers.push(answer);
    expect(answers).toEqual([{ data: { poolPairs: { totalCount: 54, nodes: [{ __typename: 'PoolPair' }] } } }]);
  });

  test('gives a refused operation as an answer with its code, and ends', async () => {
    const gateway = await serveGatewayForTest();
    const client = connect(gateway);
    const refused = async (query: string) => {
      const updates = [];
      for await (const update of client.iterate({ query })) updates.push(update);
      return updates;
    };
    const coded = (code: string) => [{ errors: [expect.objectContaining({ extensions: { code } })] }];
    expect(await refused('subscription {')).toEqual(coded('GRAPHQL_PARSE_FAILED'));
    expect(await refused('subscription { nothing }')).toEqual(coded('GRAPHQL_VALIDATION_FAILED'));
    expect(await refused('subscription { prices(tokenIds: []) { beaconHeight } }')).toEqual(coded('BAD_USER_INPUT'));
  });

  test('goes on with the gateway that takes the place of one that stopped', async () => {
    const gateway = await serveGatewayForTest();
    const start = gateway.sandbox.chain.tip.height;
    const { promise: isReplaced, resolve: replaced } = Promise.withResolvers<void>();
    const updates = connect(gateway, { retry: () => isReplaced }).iterate(HEAD);
    expect((await updates.next()).value).toEqual(head(start));

    const next = await gateway.replace(5);
    replaced();
    expect((await updates.next()).value).toEqual(head(start + 5));
    next.sandbox.advance();
    expect((await updates.next()).value).toEqual(head(start + 6));
  });

  test('learns at once that its mode of one connection for all is not offered', async () => {
    const gateway = await serveGatewayForTest();
    const client = createClient({ url: gateway.url, singleConnection: true, retryAttempts: 0 });
    onTestFinished(() => client.dispose());
    const error = await client
      .iterate(HEAD)
      .next()
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NetworkError);
    const { message, response } = error as NetworkError<Response>;
    expect([message, response?.headers.get('allow')]).toEqual([
      'Server responded with 405: Method Not Allowed',
      'GET, HEAD, POST, OPTIONS',
    ]);
  });
});
