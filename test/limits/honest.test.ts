import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, startGatewayForTests } from '../support/gateway.ts';
import { HONEST, POOL } from '../support/operations.ts';
import { nextMessage, openSocket, TRANSPORTS } from '../support/transports.ts';

/** Reads take a while on a busy machine: of 64 states, for example. Each transport gets the same data, which is read once. */
const config = { upstreamTimeoutMs: 60_000, headPollMs: 60_000, marketPollMs: 60_000, orderBookTtlMs: 60_000 };

describe('the operations of honest clients succeed', () => {
  const gateway = startGatewayForTests({ config, sandbox: { pools: 600, sharesPerPool: 1, history: 100 } });

  // A websocket has limits of its own. `same-bytes.test.ts` compares the other transports with a POST.
  describe.each(['HTTP POST', 'a websocket'])('by %s', (transport) => {
    test.each(Object.entries(HONEST))('%s', async (_name, toOperation) => {
      const answer = await TRANSPORTS[transport]?.(gateway.url, toOperation(gateway.sandbox.chain.tip.height));
      expect(answer?.errors).toBeUndefined();
      expect(answer?.data).toBeTruthy();
    });
  });

  test('100 subscriptions on one socket', async () => {
    const socket = await openSocket(gateway.url);
    for (let id = 1; id <= 100; id++) {
      const payload = { query: `subscription { prices { poolPairs { id price } } }` };
      socket.send(JSON.stringify({ type: 'subscribe', id: String(id), payload }));
      expect(JSON.parse(await nextMessage(socket))).toMatchObject({ type: 'next', id: String(id) });
    }
    socket.close();
  });
});

describe('all pools of an exchange of 2,000 in one subscription', () => {
  let gateway: Awaited<ReturnType<typeof startGateway>>;
  beforeAll(async () => {
    gateway = await startGateway({ config, sandbox: { pools: 2_000, sharesPerPool: 1, history: 3 } });
  });
  afterAll(() => gateway.close());

  test.each(['server-sent events by POST', 'a websocket'])(
    'with every field and their pairs, by %s',
    async (transport) => {
      const url = await gateway.app.listen(0, '127.0.0.1');
      const fields = `${POOL} pairs { __typename id tickerId }`;
      const answer = await TRANSPORTS[transport]?.(url, {
        query: `subscription { prices { beaconHeight poolPairs { ${fields} } } }`,
      });
      expect(answer?.errors).toBeUndefined();
      expect(answer?.data).toMatchObject({ prices: { poolPairs: { length: gateway.sandbox.chain.pools.length } } });
    },
  );
});
