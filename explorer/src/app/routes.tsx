import { lazy } from 'react';
import { matchPath, type RouteObject } from 'react-router';
import { NotFoundPage } from '../pages/not-found/not-found-page.tsx';
import { PageBoundary } from './page-boundary.tsx';
import { PATHS } from './paths.ts';
import { loadSearch } from './search/search.tsx';
import { Shell } from './shell.tsx';

/** Each page is a file of its own. */
const PAGES = [
  [PATHS.markets, async () => ({ default: (await import('../pages/markets/markets-page.tsx')).MarketsPage })],
  [PATHS.market, async () => ({ default: (await import('../pages/market/market-page.tsx')).MarketPage })],
  [PATHS.pool, async () => ({ default: (await import('../pages/market/pool-page.tsx')).PoolPage })],
  [PATHS.chain, async () => ({ default: (await import('../pages/chain/chain-page.tsx')).ChainPage })],
  [PATHS.blocks, async () => ({ default: (await import('../pages/chain/blocks-page.tsx')).BlocksPage })],
  [PATHS.block, async () => ({ default: (await import('../pages/chain/block-page.tsx')).BlockPage })],
  [PATHS.tokens, async () => ({ default: (await import('../pages/tokens/tokens-page.tsx')).TokensPage })],
  [PATHS.status, async () => ({ default: (await import('../pages/status/status-page.tsx')).StatusPage })],
] as const;

// The page that is open is loaded while React starts. A failure is shown when React loads it again.
const opened = PAGES.find(([path]) => matchPath({ path, caseSensitive: true }, location.pathname));
opened?.[1]().catch(() => {});

/** Loads the files of all pages, so that they can be opened at once, and while the gateway cannot be reached. */
export function preloadPages(): void {
  // A page that cannot be loaded now is loaded when it is opened.
  for (const loadFile of [loadSearch, ...PAGES.map(([, load]) => load)]) loadFile().catch(() => {});
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
      ...PAGES.map(([path, load]) => {
        const LazyPage = lazy(load);
        return { path, element: <LazyPage /> };
      }),
      { path: '*', element: <NotFoundPage /> },
      // The gateway responds with 404 to any other spelling.
    ].map((route) => ({ ...route, caseSensitive: true })),
  },
];
