import { Suspense, useRef } from 'react';
import { NavLink, Outlet, ScrollRestoration, useLocation } from 'react-router';
import { HeadDocument } from '../client/head.generated.ts';
import { useFollow } from '../client/hooks.ts';
import { SkeletonRows } from '../parts/skeleton.tsx';
import { Banner, LateBanner } from './banner.tsx';
import { Footer } from './footer.tsx';
import { useHeightProperty } from './height-property.ts';
import { PageBoundary } from './page-boundary.tsx';
import { Search } from './search/search.tsx';
import { ServiceContext, useServiceReading } from './service-status.ts';
import styles from './shell.module.css';
import { ThemeToggle } from './theme-toggle.tsx';
import { UnitToggle } from './unit-toggle.tsx';

const NO_VARIABLES = {};

/** What is around every page. It follows the head, for all pages. */
export function Shell() {
  const { pathname } = useLocation();
  const service = useServiceReading();
  useFollow(HeadDocument, NO_VARIABLES);
  const header = useRef<HTMLElement>(null);
  useHeightProperty(header, '--shell-header');

  return (
    <ServiceContext value={service}>
      <div className={styles.shell}>
        <a className={styles.skip} href="#content">
          Skip to the content
        </a>
        <header ref={header} className={styles.header}>
          <div className={styles.bar}>
            <NavLink to="/" className={styles.name ?? ''} aria-label="pdex-gateway, home">
              <svg className={styles.logo} viewBox="0 0 16 16" aria-hidden="true">
                <path d="M2 12l4-5 3 3 5-7" />
              </svg>
              <span translate="no">pdex-gateway</span>
            </NavLink>
            <nav className={styles.navigation} aria-label="Pages">
              <NavLink
                to="/"
                end
                className={isMarket(pathname) ? `${styles.link} ${styles.within}` : (styles.link ?? '')}
              >
                Markets
              </NavLink>
              <NavLink to="/chain" className={styles.link ?? ''}>
                Chain
              </NavLink>
              <NavLink to="/tokens" className={styles.link ?? ''}>
                Tokens
              </NavLink>
              <NavLink to="/status" className={styles.link ?? ''}>
                Status
              </NavLink>
            </nav>
            <Search />
            <UnitToggle />
            <ThemeToggle />
          </div>
        </header>
        <Banner service={service} />
        <main id="content" className={styles.content} tabIndex={-1}>
          <PageBoundary key={pathname}>
            <Suspense fallback={<SkeletonRows rows={10} />}>
              <Outlet />
            </Suspense>
          </PageBoundary>
        </main>
        <Footer version={service?.version} />
        <LateBanner service={service} />
        <ScrollRestoration />
      </div>
    </ServiceContext>
  );
}

/** The page of one market belongs to the list of all. */
function isMarket(pathname: string): boolean {
  return /^\/(market|pool)\//.test(pathname);
}
