import { type ReactNode, useRef } from 'react';
import { useIsWatched } from '../../../client/visibility.ts';
import { formatInteger } from '../../../format/numbers.ts';
import { Button } from '../../../parts/button.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorState } from '../../../parts/error-state.tsx';
import { explainError } from '../../../parts/error-text.ts';
import { Freshness } from '../../../parts/freshness.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { Scroller } from '../../../parts/scroller.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import type { Market } from '../market.ts';
import { MOST_TRADES } from './trade.ts';
import styles from './trades.module.css';
import { TradesTable } from './trades-table.tsx';
import { type Trades, useTrades } from './use-trades.ts';

type TradesPanelProps = { readonly market: Market; readonly poolId: string };

/** The trades of a pool of V3, live, as its blocks record them. */
export function TradesPanel({ market, poolId }: TradesPanelProps) {
  const element = useRef<HTMLDivElement>(null);
  const trades = useTrades(poolId, !useIsWatched(element));
  return (
    <Panel
      title="Trades"
      query={trades.query}
      freshness={<Freshness height={trades.height} />}
      isBusy={trades.isLoading}
      isFlush
    >
      <div ref={element} className={styles.content}>
        {trades.trades.length === 0 ? (
          <div className={styles.state}>{reasonOf(trades)}</div>
        ) : (
          <>
            <Scroller label="Trades as a table" className={styles.list}>
              <TradesTable market={market} trades={trades.trades} newAbove={trades.newAbove} />
              {trades.loadOlder && (
                <p className={styles.older}>
                  <Button onClick={trades.loadOlder} isBusy={trades.isLoadingOlder}>
                    {trades.isLoadingOlder ? 'Loading…' : 'Load older trades'}
                  </Button>
                </p>
              )}
            </Scroller>
            <p className={styles.note}>{noteOf(trades)}</p>
          </>
        )}
      </div>
    </Panel>
  );
}

/** Why no trades are listed. */
function reasonOf({ errors, isLoading, isUnrecorded, retry }: Trades): ReactNode {
  if (errors.length > 0) return <ErrorState errors={errors} retry={isUnrecorded ? undefined : retry} />;
  if (isLoading) {
    return (
      <div className={styles.skeleton}>
        <Skeleton lines={10} />
      </div>
    );
  }
  return isUnrecorded ? (
    <EmptyState title="No trade since this page was opened">
      <p>This gateway records no history. Trades are listed here when they come.</p>
    </EmptyState>
  ) : (
    <EmptyState title="No trade is recorded yet">
      <p>The gateway records the trades of each block. The next one through this pool is listed here at once.</p>
    </EmptyState>
  );
}

/** What a reader should know about the list, the most important first. */
function noteOf({ trades, errors: [error], isUnrecorded, loadOlder }: Trades): string {
  if (error !== undefined) return `${explainError(error).title}. Some trades are missing.`;
  if (isUnrecorded) return 'Trades since this page was opened: this gateway records no history.';
  if (trades.length >= MOST_TRADES) return `The newest ${formatInteger(MOST_TRADES)} trades.`;
  return loadOlder === undefined
    ? 'No older trades are recorded. Prices are averages of each trade, without its fee.'
    : 'Prices are averages of each trade, without its fee.';
}
