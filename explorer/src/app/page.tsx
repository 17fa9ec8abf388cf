import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { useLocation } from 'react-router';
import styles from './page.module.css';

type PageProps = {
  /** The heading, and the title of the tab. */
  readonly title: string;
  /** The title of the tab if it is another one, such as with a price. */
  readonly tabTitle?: string;
  /** Shown instead of the title in the heading, such as with a sign of the token. */
  readonly heading?: ReactNode;
  /** Stands beside the heading, such as a star. */
  readonly beside?: ReactNode;
  /** A line under the heading. */
  readonly description?: ReactNode;
  /** Controls next to the heading, such as a search. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
};

/** The path of the last page. A page that starts again by itself does not take the focus again. */
let visited: string | undefined;

/** The heading that got the focus last. A page whose data has come can take its place. */
let focused: HTMLElement | null = null;

/** A page: its title, and its heading, which gets the focus when a reader navigates to it. */
export function Page({ title, tabTitle = title, heading, beside, description, actions, children }: PageProps) {
  const element = useRef<HTMLHeadingElement>(null);
  const { pathname } = useLocation();
  const shown = useRef(visited ?? pathname);

  // With the content, not some time after it: a price in the title is the one on the page.
  useLayoutEffect(() => {
    document.title = `${tabTitle} · pdex-gateway`;
  }, [tabTitle]);

  useEffect(() => {
    visited = pathname;
    // The first page of a visit leaves the focus where the browser puts it. A search in the page does not move it either.
    const isLost = focused !== null && !focused.isConnected && document.activeElement === document.body;
    if (shown.current === pathname && !isLost) return;
    shown.current = pathname;
    focused = element.current;
    focused?.focus({ preventScroll: true });
  }, [pathname]);

  return (
    <div className={styles.page}>
      <div className={styles.header}>
        <div className={styles.titles}>
          <div className={styles.heading}>
            <h1 ref={element} tabIndex={-1}>
              {heading ?? title}
            </h1>
            {beside}
          </div>
          {description !== undefined && <p className={styles.description}>{description}</p>}
        </div>
        {actions}
      </div>
      {children}
    </div>
  );
}
