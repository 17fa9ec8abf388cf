/** Every path of the explorer. The gateway has the same ones in `src/server/pages/explorer-files.ts`, and a test compares them. */
export const PATHS = {
  markets: '/',
  market: '/market/:tickerId',
  pool: '/pool/:poolId',
  chain: '/chain',
  blocks: '/chain/blocks',
  block: '/chain/blocks/:height',
  tokens: '/tokens',
  status: '/status',
} as const;
