import { useId, useRef } from 'react';
import { useSearchParams } from 'react-router';
import { currentParameters, IN_PLACE, withParameter } from '../../../app/url-parameters.ts';
import { useLatest } from '../../../client/latest.ts';
import { useIsWatched } from '../../../client/visibility.ts';
import { formatDecimal } from '../../../format/amounts.ts';
import { nameOfToken } from '../../../format/prices.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorState } from '../../../parts/error-state.tsx';
import { Freshness } from '../../../parts/freshness.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import type { Market } from '../market.ts';
import { BookDocument, type BookSubscription } from './book.generated.ts';
import styles from './book.module.css';
import { type BookNote, notesOfBook } from './book-notes.ts';
import { BOOK_ROWS, BookTable } from './book-table.tsx';
import { groupingsOf, parseGrouping } from './grouping.ts';

/** Entries on both sides together. */
const DEPTH = 2 * BOOK_ROWS;

type BookPanelProps = { readonly market: Market; readonly tickerId: string };

/** The order book of a market, live. */
export function BookPanel({ market, tickerId }: BookPanelProps) {
  const [parameters, setParameters] = useSearchParams();
  const groupBy = parseGrouping(parameters.get('group')) ?? null;
  const element = useRef<HTMLDivElement>(null);
  const isWatched = useIsWatched(element);
  const latest = useLatest(BookDocument, { tickerId, depth: DEPTH, groupBy }, { pause: !isWatched });
  const book = latest.data?.orderBook;

  return (
    <Panel
      title="Order book"
      query={latest.query}
      freshness={<Freshness observedAt={book?.observedAt} />}
      isBusy={latest.isLoading || latest.isOutdated}
      isFlush
    >
      <div ref={element} className={styles.content}>
        <Grouping
          market={market}
          midPrice={book?.midPrice}
          groupBy={groupBy}
          onChange={(value) => setParameters(withParameter(currentParameters(), 'group', value), IN_PLACE)}
        />
        {book === undefined ? (
          <div className={styles.state}>
            {latest.isLoading ? (
              <div className={styles.skeleton}>
                <Skeleton lines={22} />
              </div>
            ) : (
              <ErrorState errors={latest.errors} />
            )}
          </div>
        ) : (
          <BookContent market={market} book={book} isOutdated={latest.isOutdated} />
        )}
      </div>
    </Panel>
  );
}

type BookContentProps = {
  readonly market: Market;
  readonly book: BookSubscription['orderBook'];
  readonly isOutdated: boolean;
};

function BookContent({ market, book, isOutdated }: BookContentProps) {
  const notes = Map.groupBy(notesOfBook(book), ({ isWarning }) => isWarning);
  const isEmpty = book.bids.length === 0 && book.asks.length === 0;
  return (
    <>
      <Notes notes={notes.get(true)} />
      {isEmpty ? (
        <div className={styles.state}>
          <EmptyState title="The order book is empty">
            <p>Nobody has an open order in this market. The pool can still be traded with.</p>
          </EmptyState>
        </div>
      ) : (
        <BookTable market={market} book={book} isOutdated={isOutdated} />
      )}
      <Notes notes={notes.get(false)} />
    </>
  );
}

/** Warnings stand before the book, other remarks after it. */
function Notes({ notes }: { readonly notes: readonly BookNote[] | undefined }) {
  if (notes === undefined) return null;
  return (
    <ul className={styles.notes} data-warning={notes[0]?.isWarning}>
      {notes.map(({ text }) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}

type GroupingProps = {
  readonly market: Market;
  readonly midPrice: number | null | undefined;
  readonly groupBy: string | null;
  readonly onChange: (value: string) => void;
};

/** Chooses the step to which prices are rounded. */
function Grouping({ market, midPrice, groupBy, onChange }: GroupingProps) {
  const id = useId();
  const steps = groupingsOf(midPrice);
  // A step of the URL that is not offered can still be seen.
  const shown = groupBy === null || steps.includes(groupBy) ? steps : [groupBy, ...steps];
  return (
    <div className={styles.controls}>
      <label htmlFor={id}>Group prices by</label>
      <select id={id} className={styles.select} value={groupBy ?? ''} onChange={({ target }) => onChange(target.value)}>
        <option value="">nothing</option>
        {shown.map((step) => (
          <option key={step} value={step}>
            {`${formatDecimal(step)} ${nameOfToken(market.target)}`}
          </option>
        ))}
      </select>
    </div>
  );
}
