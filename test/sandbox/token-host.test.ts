import { describe, expect, test } from 'vitest';
import { fixedSandbox } from './support.ts';

describe('the token service', () => {
  test('lists every token that has a name, with its decimals on the chain', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const response = await fetch(sandbox.tokensUrl);
    const { Result, Error: error } = await response.json();
    const named = sandbox.chain.tokens.filter(({ symbol }) => symbol !== undefined);
    expect([response.status, response.headers.get('content-type'), error]).toEqual([200, 'application/json', null]);
    expect(Result.map((row: Record<string, unknown>) => [row['TokenID'], row['Symbol'], row['PDecimals']])).toEqual(
      named.map(({ id, symbol, decimals }) => [id, symbol, decimals]),
    );
    expect(Result[1]).toMatchObject({ Symbol: 'BTC', PSymbol: 'pBTC', Verified: true });
    expect(sandbox.tokenService.calls('tokenlist')).toBe(1);
  });

  test('reports errors with each status', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    const answer = async () => {
      const response = await fetch(sandbox.tokensUrl);
      return [response.status, await response.json()];
    };
    for (const status of [400, 500, 200]) {
      sandbox.tokenService.faults.set({ kind: 'service-error', error: 'no tokens', status, times: 1 });
      expect(await answer()).toEqual([status, { Result: null, Error: 'no tokens' }]);
    }
    expect((await fetch(`${sandbox.tokenService.url}/coins`)).status).toBe(404);
  });

  test('has the faults of every host', async () => {
    await using sandbox = await fixedSandbox({ history: 5 });
    sandbox.tokenService.faults.set({ kind: 'shape', path: ['Result', 0, 'PDecimals'], value: 31 });
    expect((await (await fetch(sandbox.tokensUrl)).json()).Result[0].PDecimals).toBe(31);
  });
});
