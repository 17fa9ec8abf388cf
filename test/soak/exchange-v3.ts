import type { TestGatewayOptions } from '../support/gateway.ts';

/** A gateway where V3 of the exchange trades, as the soak test starts it. */
export const V3: TestGatewayOptions = {
  isSandbox: false,
  sandbox: { exchange: 'v3' },
  // As the soak test names them: one pool has a token of its own.
  configOf: ({ chain: { tokens, v3Pools } }) => ({
    tokensFile: [...tokens, ...v3Pools.flatMap(({ token0, token1 }) => [token0, token1])]
      .filter(({ symbol }) => symbol !== undefined)
      .map(({ id, symbol, decimals }) => ({ tokenId: id, symbol, decimals })),
  }),
};
