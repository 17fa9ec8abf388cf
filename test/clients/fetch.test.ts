import { describe, expect, test } from 'vitest';
import { serveTwoGateways } from '../support/two-gateways.ts';

/** A client that sends its requests through a load balancer. It names a minimum, or does not. */
function createClient(send: typeof fetch, namesMinimum: boolean) {
  let newest = 0;
  return async function request(query: string) {
    const headers = {
      'content-type': 'application/json',
      ...(namesMinimum && { 'x-pdex-min-height': String(newest) }),
    };
    const response = await send('', { method: 'POST', headers, body: JSON.stringify({ query }) });
    newest = Math.max(newest, Number(response.headers.get('x-pdex-height')));
    return (await response.json()).data.beaconHeight;
  };
}

describe('a client with fetch that a load balancer sends to two gateways in turn', () => {
  test('sees a height go back', async () => {
    const { sandbox, advance, fetch } = await serveTwoGateways();
    const { height } = sandbox.chain.tip;
    const request = createClient(fetch, false);
    await advance();
    expect([await request('{ beaconHeight }'), await request('{ beaconHeight }')]).toEqual([height + 1, height]);
  });

  test('sees none go back if it names the newest height that it has seen, also of a cached answer', async () => {
    const { sandbox, advance, catchUp, waiting, fetch } = await serveTwoGateways();
    const { height } = sandbox.chain.tip;
    const request = createClient(fetch, true);
    for (let n = 0; n < 6; n++) expect(await request('{ beaconHeight }')).toBe(height);
    await advance();
    expect(await request('{ beaconHeight }')).toBe(height + 1);
    const second = request('{ beaconHeight }');
    await expect.poll(waiting).toBe(1);
    catchUp();
    expect(await second).toBe(height + 1);
  });
});
