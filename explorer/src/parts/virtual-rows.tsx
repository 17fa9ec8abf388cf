import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useState } from 'react';
import styles from './table.module.css';

/** The height of a row, as `--row` is, in rem. */
const ROW_REM = 2.25;

/** The rows of a table that are near the screen, so that a list of any length scrolls smoothly. */
export type VirtualRows = {
  /** The ref of the table. */
  readonly table: (element: HTMLTableElement | null) => void;
  /** The indexes of the rows that exist. */
  readonly first: number;
  readonly end: number;
  /** The height of the rows before and after them, in CSS pixels. */
  readonly before: number;
  readonly after: number;
  readonly isScrolling: boolean;
};

/** Finds the rows near the screen. The table scrolls with the page. */
export function useVirtualRows(count: number): VirtualRows {
  const [element, setElement] = useState<HTMLTableElement | null>(null);
  const [scrollMargin, setScrollMargin] = useState(0);
  useLayoutEffect(() => {
    if (element === null) return;
    const measure = () => setScrollMargin(Math.round(element.getBoundingClientRect().top + window.scrollY));
    measure();
    // A banner can come and go above the table.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [element]);

  const [rowHeight] = useState(() => ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin,
  });
  const rows = virtualizer.getVirtualItems();
  const first = rows[0]?.index ?? 0;
  const end = (rows.at(-1)?.index ?? -1) + 1;
  return {
    table: setElement,
    first,
    end,
    before: first * rowHeight,
    after: (count - end) * rowHeight,
    isScrolling: virtualizer.isScrolling,
  };
}

/** Stands for the rows that do not exist. */
export function RowSpace({ height }: { readonly height: number }) {
  return height > 0 && <tbody className={styles.space} style={{ height }} />;
}
