import { once } from 'node:events';
import { describe, expect, onTestFinished, test } from 'vitest';
import { untilCollected } from '../../support/garbage.ts';
import { startGatewayForTest } from '../../support/gateway.ts';
import { nextMessage, openSocket } from '../../support/transports.ts';
import { connect, take } from '../../support/websocket.ts';

async function open() {
  const gateway = await startGatewayForTest();
  return { ...gateway, client: connect(await gateway.app.listen(0, '127.0.0.1')) };
}

describe('the websocket transport', () => {
  test('keeps neither the payload of connection_init nor the variables of a subscription that has started', async () => {
    const { app } = await startGatewayForTest();
    const url = await app.listen(0, '127.0.0.1');
    const received: WeakRef<object>[] = [];
    const { parse } = JSON;
    onTestFinished(() => {
      JSON.parse = parse;
    });
    JSON.parse = (text) => {
      const value = parse(text);
      if (value?.type === 'connection_init') received.push(new WeakRef(value.payload.large));
      if (value?.type === 'subscribe') received.push(new WeakRef(value.payload.variables.large));
      return value;
    };
    const socket = await openSocket(url, {}, { large: [] });
    const payload = { query: 'subscription { head { beaconHeight } }', variables: { large: [] } };
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
    expect(await nextMessage(socket)).toContain('"next"');
    expect(received).toHaveLength(2);
    await untilCollected(received);
    socket.close();
    await once(socket, 'close');
  });

  test('has the same limits and masks the same errors as HTTP', async () => {
    const { client, sandbox } = await open();
    await take(client, '{ beaconHeight }', 1);
    sandbox.node.resetCalls();
    const refused = async (query: string) => take(client, query, 1).catch((errors: unknown) => errors);
    const coded = (code: string) => [expect.objectContaining({ extensions: { code } })];
    expect(await refused('{')).toEqual(coded('GRAPHQL_PARSE_FAILED'));
    expect(await refused('{ nothing }')).toEqual(coded('GRAPHQL_VALIDATION_FAILED'));
    expect(await refused(`{ ${'beaconHeight '.repeat(10_000)} }`)).toEqual(coded('QUERY_TOO_COMPLEX'));
    expect(await refused('subscription { prices(tokenIds: []) { beaconHeight } }')).toEqual([
      expect.objectContaining({ errors: coded('BAD_USER_INPUT') }),
    ]);
    const aliases = Array.from({ length: 300 }, (_, n) => `a${n}: poolPairs(first: 500) { nodes { id } }`).join(' ');
    expect(await refused(`{ ${aliases} }`)).toEqual([{ errors: coded('QUERY_TOO_COMPLEX') }]);
    expect(await take(client, '{ poolPairs(first: -1) { totalCount } beaconHeight }', 1)).toEqual([
      { data: { poolPairs: null, beaconHeight: sandbox.chain.tip.height }, errors: coded('BAD_USER_INPUT') },
    ]);
    expect(sandbox.node.calls('getpdestate')).toBe(0);
  });

  test('limits the values of all open operations of a websocket', async () => {
    const { app } = await startGatewayForTest({ config: { maxValuesPerConnection: 500 } });
    const client = connect(await app.listen(0, '127.0.0.1'));
    await take(client, '{ beaconHeight }', 1);
    const query = 'subscription { prices { poolPairs { id price token1PoolValue } } }';
    const [first, second] = [client.iterate({ query }), client.iterate({ query })];
    await Promise.all([first.next(), second.next()]);
    const refusal = () => take(client, query, 1).catch((errors: unknown) => errors);
    expect(await refusal()).toEqual([expect.objectContaining({ extensions: { code: 'RATE_LIMITED' } })]);
    await first.return?.();
    await expect.poll(refusal).toEqual([{ data: { prices: { poolPairs: expect.any(Array) } } }]);
    await second.return?.();
  });

  test('keeps other operations of a websocket open when one fails', async () => {
    const { client, sandbox } = await open();
    const updates = client.iterate<{ head: { beaconHeight: number } }>({
      query: 'subscription { head { beaconHeight } }',
    });
    await updates.next();
    await take(client, '{ nothing }', 1).catch(() => undefined);
    sandbox.advance();
    expect((await updates.next()).value.data.head.beaconHeight).toBe(sandbox.chain.tip.height);
  });
});
