import { type ReactNode, useMemo, useRef } from 'react';
import { useSearchParams } from 'react-router';
import { useServiceStatus } from '../../../app/service-status.ts';
import { currentParameters, IN_PLACE, withParameter } from '../../../app/url-parameters.ts';
import { useConnectionState, useGatewayQuery, useHead } from '../../../client/hooks.ts';
import { useLatest } from '../../../client/latest.ts';
import { useIsWatched } from '../../../client/visibility.ts';
import { Answered, errorsAt } from '../../../parts/answered.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorState } from '../../../parts/error-state.tsx';
import { Freshness } from '../../../parts/freshness.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { Tabs } from '../../../parts/tabs.tsx';
import type { Market } from '../market.ts';
import { BookDocument, ChainBookDocument } from './book.generated.ts';
import styles from './book.module.css';
import { BookContent, BookSkeleton } from './book-content.tsx';
import { notesOfBook, notesOfChainBook, notesOfStaleBook } from './book-notes.ts';
import { BOOK_ROWS } from './book-table.tsx';
import { bookOfPool } from './chain-book.ts';
import { parseGrouping } from './grouping.ts';
import { GroupingChoice } from './grouping-choice.tsx';
import { useBookFailure } from './use-book-failure.ts';

/** Entries on both sides together. */
const DEPTH = 2 * BOOK_ROWS;

const PATH_ON_CHAIN = ['pool', 'book'];

const SOURCES = [
  { value: 'chain', label: 'On the chain' },
  { value: 'host', label: 'Of the host' },
] as const;

type BookPanelProps = {
  readonly market: Market;
  /** Undefined for a pool alone, which has only a book on the chain. */
  readonly tickerId: string | undefined;
};

/** The order book of a market, live: in V3, the orders of the pool on the chain, or the book of the market-data host. */
export function BookPanel({ market, tickerId }: BookPanelProps) {
  const [parameters, setParameters] = useSearchParams();
  const poolId = market.pool?.poolId ?? undefined;
  const isOfHost = poolId === undefined || (tickerId !== undefined && parameters.get('book') === 'host');
  const groupBy = parseGrouping(parameters.get('group')) ?? null;
  const element = useRef<HTMLDivElement>(null);
  const isWatched = useIsWatched(element);
  const isHostPaused = !isWatched || !isOfHost || tickerId === undefined;
  const ofHost = useLatest(BookDocument, { tickerId: tickerId ?? '', depth: DEPTH, groupBy }, { pause: isHostPaused });
  const failure = useBookFailure(market.pair?.poolId, ofHost.data, isHostPaused);
  const onChain = useGatewayQuery(
    ChainBookDocument,
    useMemo(() => ({ poolId: poolId ?? '', depth: DEPTH }), [poolId]),
    { refresh: 'each-height', pause: !isWatched || isOfHost },
  );
  const hostBook = ofHost.data?.orderBook;
  const connection = useConnectionState();
  const head = useHead();
  const marketData = useServiceStatus()?.marketData;
  const staleNotes = notesOfStaleBook({
    connection,
    errors: isOfHost ? [...ofHost.errors, ...failure] : errorsAt(onChain.errors, PATH_ON_CHAIN),
    isOfHost,
    isStale: (isOfHost ? marketData : head)?.stale,
  });
  const choose = (name: string, value: string) =>
    setParameters(withParameter(currentParameters(), name, value), IN_PLACE);

  return (
    <Panel
      title="Order book"
      query={isOfHost ? ofHost.query : onChain.query}
      freshness={isOfHost ? <Freshness observedAt={hostBook?.observedAt} /> : <Freshness height={onChain.height} />}
      isBusy={isOfHost ? ofHost.isLoading || ofHost.isOutdated : onChain.isLoading}
      isFlush
    >
      <div ref={element} className={styles.content}>
        <div className={styles.controls}>
          {poolId !== undefined && (
            <Tabs
              label="Source of the order book"
              tabs={tickerId === undefined ? SOURCES.slice(0, 1) : SOURCES}
              value={isOfHost ? 'host' : 'chain'}
              onChange={(value) => choose('book', value === 'host' ? value : '')}
            />
          )}
          {isOfHost && (
            <GroupingChoice
              market={market}
              midPrice={hostBook?.midPrice}
              groupBy={groupBy}
              onChange={(value) => choose('group', value)}
            />
          )}
        </div>
        {isOfHost ? bookOfHost() : bookOnChain()}
      </div>
    </Panel>
  );

  function bookOfHost(): ReactNode {
    if (hostBook === undefined) {
      if (ofHost.isLoading) return <BookSkeleton />;
      return (
        <div className={styles.state}>
          <ErrorState errors={ofHost.errors} />
        </div>
      );
    }
    return (
      <BookContent
        market={market}
        book={{ ...hostBook, isPartial: hostBook.quality.entriesDropped > 0 }}
        notes={notesOfBook(hostBook)}
        staleNotes={staleNotes}
        isOutdated={ofHost.isOutdated || staleNotes.length > 0}
      />
    );
  }

  function bookOnChain(): ReactNode {
    return (
      <Answered
        answer={onChain}
        pick={({ pool }) => pool?.book}
        at={PATH_ON_CHAIN}
        skeleton={<BookSkeleton />}
        empty={
          <div className={styles.state}>
            <EmptyState title="The decimals of a token are not known" />
          </div>
        }
      >
        {(book) => (
          <BookContent
            market={market}
            book={bookOfPool(book, market.isInverse)}
            notes={notesOfChainBook(book)}
            staleNotes={staleNotes}
            isOutdated={staleNotes.length > 0}
          />
        )}
      </Answered>
    );
  }
}
