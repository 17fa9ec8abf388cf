import { Component, type ReactNode, useEffect } from 'react';
import { retryDelayMs } from '../client/back-off.ts';
import { useGateway } from '../client/gateway.tsx';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Panel } from '../parts/panel.tsx';
import { Page } from './page.tsx';

type PageBoundaryProps = { readonly children: ReactNode };
type PageBoundaryState = { readonly error: unknown };

/** A page that has worked for this time has recovered from its earlier failures. */
const RECOVERED_AFTER_MS = 30_000;

/** A file that is missing so soon after the index was loaded would be missing again. */
const NEW_UNTIL_MS = 30_000;

/**
 * Shows a page that is broken as such, and starts it again by itself: after up to a second, then later after each failure. The cause
 * can pass, such as an extension of the browser that has moved elements of the page. The other pages work meanwhile.
 */
export class PageBoundary extends Component<PageBoundaryProps, PageBoundaryState> {
  override readonly state: PageBoundaryState = { error: undefined };
  #failures = 0;
  #startedAt = Date.now();
  #timer: ReturnType<typeof setTimeout> | undefined;

  static getDerivedStateFromError(error: unknown): PageBoundaryState {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    if (isMissingFile(error)) return;
    if (Date.now() - this.#startedAt > RECOVERED_AFTER_MS) this.#failures = 0;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#startAgain, retryDelayMs(this.#failures));
    this.#failures += 1;
  }

  override componentWillUnmount(): void {
    clearTimeout(this.#timer);
  }

  readonly #startAgain = (): void => {
    this.#startedAt = Date.now();
    this.setState({ error: undefined });
  };

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const isMissing = isMissingFile(error);
    const retry = () => (isMissing ? location.reload() : this.#startAgain());
    return (
      <Page title="This page is broken">
        {isMissing && <ReloadWhenReachable />}
        <Panel title="Something went wrong">
          <EmptyState title={isMissing ? 'This page could not be loaded' : 'This page cannot be shown'}>
            <p>
              {isMissing
                ? 'The gateway may have been updated, or cannot be reached.'
                : 'The explorer has a defect, or an extension of the browser has changed the page. It starts again by itself.'}
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

/** Whether the file of a page cannot be loaded, as after an update of the gateway. Then it needs the new index. */
function isMissingFile(error: unknown): boolean {
  return error instanceof Error && /dynamically imported module|module script|preload CSS/i.test(error.message);
}

/** Reloads the page when the gateway can be reached: a page that is not new was probably loaded before an update. */
function ReloadWhenReachable() {
  const { connection } = useGateway();
  useEffect(() => {
    if (!('since' in connection.state.get()) && performance.now() > NEW_UNTIL_MS) location.reload();
    return connection.onRestored(() => location.reload());
  }, [connection]);
  return null;
}
