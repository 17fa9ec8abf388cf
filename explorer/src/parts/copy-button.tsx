import { useEffect, useState } from 'react';
import styles from './copy-button.module.css';

type CopyButtonProps = {
  readonly text: string;
  /** What is copied, for screen readers: "token id". */
  readonly what: string;
};

/** Copies a text, and says that it did. Where the browser does not allow it, shows the text to copy. */
export function CopyButton({ text, what }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [isCopied]);

  async function copy(): Promise<void> {
    try {
      // Browsers offer the clipboard only over HTTPS and on this computer.
      await navigator.clipboard.writeText(text);
      setIsCopied(true);
    } catch {
      prompt(`The browser does not let this page copy. The ${what}, to copy it here:`, text);
    }
  }

  const label = isCopied ? 'Copied' : `Copy ${what}`;
  return (
    <button type="button" className={styles.button} aria-label={label} title={label} onClick={copy}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {isCopied ? <path d="M3 8.5l3.5 3.5L13 4.5" /> : <path d="M5.5 5.5h7v8h-7zM3.5 10.5v-8h7" />}
      </svg>
    </button>
  );
}
