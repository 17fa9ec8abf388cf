import { useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { currentParameters, FROM_FIRST_ROW, withParameter } from '../app/url-parameters.ts';
import styles from './search-field.module.css';

type SearchFieldProps = {
  /** What is searched, for screen readers: "Search tokens". */
  readonly label: string;
  readonly placeholder: string;
};

/** Moves the focus to the search of the page, such as from a button that clears it and goes away. */
export function focusSearchField(): void {
  document.querySelector<HTMLElement>(`.${styles.field}`)?.focus();
}

/**
 * A search whose text is in the URL as `search`, so that it can be shared and comes back with the page. The field itself shows
 * what is typed at once: the URL follows a moment later.
 */
export function SearchField({ label, placeholder }: SearchFieldProps) {
  const [parameters, setParameters] = useSearchParams();
  const inUrl = parameters.get('search') ?? '';
  const [text, setText] = useState(inUrl);
  /** Texts that were typed and may not have reached the URL yet. */
  const typed = useRef<readonly string[]>([]);

  useEffect(() => {
    const place = typed.current.lastIndexOf(inUrl);
    typed.current = typed.current.slice(place + 1);
    // The reader has gone back or forward, or followed a link.
    if (place < 0) setText(inUrl);
  }, [inUrl]);

  function search(next: string): void {
    setText(next);
    typed.current = [...typed.current, next];
    setParameters(withParameter(currentParameters(), 'search', next), FROM_FIRST_ROW);
  }

  return (
    <input
      type="search"
      className={styles.field}
      placeholder={placeholder}
      aria-label={label}
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={({ target }) => search(target.value)}
    />
  );
}
