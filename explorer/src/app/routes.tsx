import { lazy } from 'react';
import type { RouteObject } from 'react-router';
import { NotFoundPage } from '../pages/not-found/not-found-page.tsx';
import { PageBoundary } from './page-boundary.tsx';
import { PATHS } from './paths.ts';
import { loadSearch } from './search/search.tsx';
import { Shell } from './shell.tsx';

/** Each page is a file of its own. */
const load = {
  markets: async () => ({ default: (await import('../pages/markets/markets-page.tsx')).MarketsPage }),
  market: async () => ({ default: (await import('../pages/market/market-page.tsx')).MarketPage }),
  pool: async () => ({ default: (await import('../pages/market/pool-page.tsx')).PoolPage }),
  chain: async () => ({ default: (await import('../pages/chain/chain-page.tsx')).ChainPage }),
  blocks: async () => ({ default: (await import('../pages/chain/blocks-page.tsx')).BlocksPage }),
  block: async () => ({ default: (await import('../pages/chain/block-page.tsx')).BlockPage }),
  tokens: async () => ({ default: (await import('../pages/tokens/tokens-page.tsx')).TokensPage }),
  status: async () => ({ default: (await import('../pages/status/status-page.tsx')).StatusPage }),
};

const MarketsPage = lazy(load.markets);
const MarketPage = lazy(load.market);
const PoolPage = lazy(load.pool);
const ChainPage = lazy(load.chain);
const BlocksPage = lazy(load.blocks);
const BlockPage = lazy(load.block);
const TokensPage = lazy(load.tokens);
const StatusPage = lazy(load.status);

/** Loads the files of all pages, so that they can be opened at once, and while the gateway cannot be reached. */
export function preloadPages(): void {
  // A page that cannot be loaded now is loaded when it is opened.
  for (const loadFile of [loadSearch, ...Object.values(load)]) loadFile().catch(() => {});
}

/** Every URL of the explorer. */
export const routes: RouteObject[] = [
  {
    element: (
      <PageBoundary>
        <Shell />
      </PageBoundary>
    ),
    children: [
      { path: PATHS.markets, element: <MarketsPage /> },
      { path: PATHS.market, element: <MarketPage /> },
      { path: PATHS.pool, element: <PoolPage /> },
      { path: PATHS.chain, element: <ChainPage /> },
      { path: PATHS.blocks, element: <BlocksPage /> },
      { path: PATHS.block, element: <BlockPage /> },
      { path: PATHS.tokens, element: <TokensPage /> },
      { path: PATHS.status, element: <StatusPage /> },
      { path: '*', element: <NotFoundPage /> },
      // The gateway responds with 404 to any other spelling.
    ].map((route) => ({ ...route, caseSensitive: true })),
  },
];
