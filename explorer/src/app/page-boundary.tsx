import { Component, type ReactNode, useEffect } from 'react';
import { useGateway } from '../client/gateway.tsx';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Panel } from '../parts/panel.tsx';
import { Page } from './page.tsx';

type PageBoundaryProps = { readonly children: ReactNode };
type PageBoundaryState = { readonly error: unknown };

/** Shows a page that is broken as such. The other pages work, and so does this one after a retry, if the cause has passed. */
export class PageBoundary extends Component<PageBoundaryProps, PageBoundaryState> {
  override readonly state: PageBoundaryState = { error: undefined };

  static getDerivedStateFromError(error: unknown): PageBoundaryState {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    // A page whose file cannot be loaded, as after an update of the gateway, needs the new index.
    const isMissing =
      error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message);
    const retry = () => (isMissing ? location.reload() : this.setState({ error: undefined }));
    return (
      <Page title="This page is broken">
        {isMissing && <ReloadWhenRestored />}
        <Panel title="Something went wrong">
          <EmptyState title={isMissing ? 'This page could not be loaded' : 'This page cannot be shown'}>
            <p>
              {isMissing
                ? 'The gateway may have been updated, or cannot be reached.'
                : 'The explorer has a defect. The other pages work.'}
            </p>
            <p>
              <Button onClick={retry}>{isMissing ? 'Reload' : 'Try again'}</Button>
            </p>
          </EmptyState>
        </Panel>
      </Page>
    );
  }
}

function ReloadWhenRestored() {
  const { connection } = useGateway();
  useEffect(() => connection.onRestored(() => location.reload()), [connection]);
  return null;
}
