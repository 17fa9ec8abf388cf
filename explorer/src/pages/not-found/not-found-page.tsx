import { Link, useLocation } from 'react-router';
import { Page } from '../../app/page.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Panel } from '../../parts/panel.tsx';

/** Shown for a URL that is no page. */
export function NotFoundPage() {
  const { pathname } = useLocation();
  return (
    <Page title="Page not found">
      <Panel title="There is no such page">
        <EmptyState title={`Nothing is at ${pathname}`}>
          <p>
            <span>The link may be wrong.</span> <Link to="/">All markets</Link> <span>are a good place to start.</span>
          </p>
        </EmptyState>
      </Panel>
    </Page>
  );
}
