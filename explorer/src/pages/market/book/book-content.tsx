import { EmptyState } from '../../../parts/empty-state.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import type { Market } from '../market.ts';
import styles from './book.module.css';
import type { BookNote } from './book-notes.ts';
import { BookTable } from './book-table.tsx';
import type { ShownBook } from './chain-book.ts';

type BookContentProps = {
  readonly market: Market;
  readonly book: ShownBook;
  readonly notes: readonly BookNote[];
  /** Why it can be older than it should be. */
  readonly staleNotes: readonly BookNote[];
  readonly isOutdated: boolean;
};

/** A book with what a reader should know of it. */
export function BookContent({ market, book, notes: allNotes, staleNotes, isOutdated }: BookContentProps) {
  const notes = Map.groupBy(allNotes, ({ isWarning }) => isWarning);
  const isEmpty = book.bids.length === 0 && book.asks.length === 0;
  return (
    <>
      <Notes notes={notes.get(true)} />
      {isEmpty ? (
        <div className={styles.state}>
          <EmptyState title="The order book is empty">
            <p>
              {market.pool?.isTradable === false
                ? 'Nobody has an open order in this market.'
                : 'Nobody has an open order in this market. The pool can still be traded with.'}
            </p>
          </EmptyState>
        </div>
      ) : (
        <BookTable market={market} book={book} isOutdated={isOutdated} />
      )}
      <Notes notes={staleNotes} />
      <Notes notes={notes.get(false)} />
    </>
  );
}

/** Warnings stand before the book, other remarks after it, where it does not move when one comes or goes. */
function Notes({ notes = [] }: { readonly notes: readonly BookNote[] | undefined }) {
  if (notes.length === 0) return null;
  return (
    <ul className={styles.notes} data-warning={notes[0]?.isWarning}>
      {notes.map(({ text }) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

/** Stands where a book will be. */
export function BookSkeleton() {
  return (
    <div className={styles.state}>
      <div className={styles.skeleton}>
        <Skeleton lines={22} />
      </div>
    </div>
  );
}
