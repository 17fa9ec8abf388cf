import { describe, expect, test } from 'vitest';
import { startGatewayForTests } from '../support/gateway.ts';
import { ABUSIVE, PAGED } from '../support/operations.ts';
import { fitsUrl, TRANSPORTS } from '../support/transports.ts';

const TOO_COMPLEX = [expect.objectContaining({ extensions: { code: 'QUERY_TOO_COMPLEX' } })];

// The gateway does not poll for a minute: every call is caused by an operation.
// Lists count with their current lengths, so the exchange has to be large.
const gateway = startGatewayForTests({
  config: { headPollMs: 60_000, marketPollMs: 60_000 },
  sandbox: { pools: 1_000, sharesPerPool: 1, history: 5 },
});

/** Runs something. @returns the number of upstream calls meanwhile */
async function callsDuring<T>(work: () => Promise<T>): Promise<[calls: number, result: T]> {
  const { node, marketData } = gateway.sandbox;
  node.resetCalls();
  marketData.resetCalls();
  const result = await work();
  return [node.calls() + marketData.calls(), result];
}

describe('an operation that exceeds a limit is refused without an upstream call', () => {
  for (const [transport, ask] of Object.entries(TRANSPORTS)) {
    // Long documents are dear. The others are enough to find a transport that leaves out a limit.
    const operations = Object.entries(ABUSIVE).filter(
      ([, operation]) => transport === 'HTTP POST' || transport === 'a websocket' || fitsUrl(operation),
    );

    test.each(operations)(`by ${transport}: %s`, async (_name, operation) => {
      const [calls, answer] = await callsDuring(() => ask(gateway.url, operation));
      expect(answer).toEqual({ errors: TOO_COMPLEX });
      expect(calls).toBe(0);
    });

    test(`by ${transport}: larger variables of a document that was accepted before`, async () => {
      const honest = await ask(gateway.url, { query: PAGED, variables: { first: 1 } });
      expect(honest.errors).toBeUndefined();
      const [calls, answer] = await callsDuring(() => ask(gateway.url, { query: PAGED, variables: { first: 500 } }));
      expect(answer).toEqual({ errors: TOO_COMPLEX });
      expect(calls).toBe(0);
    });
  }

  test('by HTTP: an array of operations, of which none is executed', async () => {
    const body = JSON.stringify(Array(3).fill({ query: '{ orderBook(tickerId: "pBTC_PRV") { bestBid } }' }));
    const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
    const [calls, response] = await callsDuring(() => fetch(gateway.url, { method: 'POST', headers, body }));
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({
      errors: [expect.objectContaining({ message: expect.stringMatching(/batch/i) })],
    });
    expect(calls).toBe(0);
  });

  test('by HTTP GET: a document that is too long for a URL', async () => {
    const [calls, response] = await callsDuring(() =>
      fetch(`${gateway.url}?query=${encodeURIComponent('{ beaconHeight }')}${'+'.repeat(20_000)}`),
    );
    expect(response.status).toBe(431);
    expect(calls).toBe(0);
  });
});
