import { lazy, Suspense, useEffect, useState } from 'react';
import styles from './search.module.css';

/** Loads the file of the search, so that what is typed after the key `/` is not lost. */
export const loadSearch = async () => ({ default: (await import('./search-dialog.tsx')).SearchDialog });
const SearchDialog = lazy(loadSearch);

/**
 * The search for everything, which a button, Ctrl+K (⌘K) and the key `/` open. On a page with a search of its own, `/` moves the focus
 * there.
 */
export function Search() {
  const [isOpen, setIsOpen] = useState(false);
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const isK = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey;
      const isSlash = event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isTyping(event.target);
      if (!isK && !isSlash) return;
      event.preventDefault();
      const own = isK ? null : document.querySelector<HTMLInputElement>('main input[type=search]');
      if (own === null) setIsOpen(true);
      own?.focus();
      own?.select();
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);

  return (
    <>
      <button
        type="button"
        className={styles.open}
        aria-keyshortcuts="/ Control+K Meta+K"
        title="Search (/ or Ctrl+K)"
        onPointerEnter={loadSearch}
        onClick={() => setIsOpen(true)}
      >
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M7 2.2a4.8 4.8 0 1 0 0 9.6 4.8 4.8 0 0 0 0-9.6M10.6 10.6l3.4 3.4" />
        </svg>
        <span>Search</span>
      </button>
      {isOpen && (
        <Suspense>
          <SearchDialog onClose={() => setIsOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
