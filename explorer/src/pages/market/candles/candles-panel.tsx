import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { useLastingKeys } from '../../../app/service-status.ts';
import { Attribution } from '../../../charts/attribution.tsx';
import chartStyles from '../../../charts/charts.module.css';
import type { GatewayError } from '../../../client/errors.ts';
import { useIsWatched } from '../../../client/visibility.ts';
import { formatPrice } from '../../../format/numbers.ts';
import { errorsAt } from '../../../parts/answered.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorState } from '../../../parts/error-state.tsx';
import { Freshness } from '../../../parts/freshness.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { Tabs } from '../../../parts/tabs.tsx';
import { isEmptyPool, type Market, nameOfMarket, unitOfPrice } from '../market.ts';
import type { ChartCandle } from './candle.ts';
import { CandleLegend } from './candle-legend.tsx';
import { CandleTable } from './candle-table.tsx';
import styles from './candles.module.css';
import { INTERVALS, type Interval, PERIODS } from './intervals.ts';
import { useCandleView } from './use-candle-view.ts';
import { type Candles, useCandles } from './use-candles.ts';

// The library of the charts is loaded when the first one is drawn.
const CandleChart = lazy(async () => ({ default: (await import('./candle-chart.tsx')).CandleChart }));

const VIEWS = [
  { value: 'chart', label: 'Chart' },
  { value: 'table', label: 'Table' },
] as const;

type CandlesPanelProps = {
  readonly market: Market;
  /** Why the pool could not be read. */
  readonly poolErrors: readonly GatewayError[];
};

/** Candles of the pool, in an interval of choice: as a chart whose last candle moves, or as a table. */
export function CandlesPanel({ market, poolErrors }: CandlesPanelProps) {
  const { interval, period, spanMs, isKnown, isTable, choose: chooseView } = useCandleView();
  const element = useRef<HTMLDivElement>(null);
  const isWatched = useIsWatched(element);
  const candles = useCandles(market, interval, market.pool === undefined || !isWatched || !isKnown);
  const [pointed, setPointed] = useState<ChartCandle>();
  const { answer } = candles;
  const newest = candles.candles.at(-1);

  function choose(...choice: Parameters<typeof chooseView>): void {
    setPointed(undefined);
    chooseView(...choice);
  }

  return (
    <Panel
      title="Price"
      query={answer.query}
      freshness={<Freshness height={newest?.lastHeight} />}
      isBusy={answer.isLoading && market.pool !== undefined}
      isFlush
    >
      <div ref={element} className={styles.content}>
        <div className={chartStyles.controls}>
          <Tabs
            label="Interval of the candles"
            tabs={INTERVALS}
            value={interval.value}
            onChange={(value) => choose('interval', value)}
          />
          <fieldset className={styles.periods}>
            <legend className="visually-hidden">Period of the chart</legend>
            {PERIODS.map(({ value, label }) => (
              <button
                key={value}
                type="button"
                className={styles.period}
                aria-pressed={value === period?.value}
                onClick={() => choose('period', value === period?.value ? '' : value)}
              >
                {label}
              </button>
            ))}
          </fieldset>
          <Tabs
            label="View of the candles"
            tabs={VIEWS}
            value={isTable ? 'table' : 'chart'}
            onChange={(value) => choose('view', value)}
          />
        </div>
        <CandlesState market={market} poolErrors={poolErrors} candles={candles}>
          {isTable ? (
            <CandleTable market={market} candles={candles} />
          ) : (
            <>
              <CandleLegend candle={pointed ?? newest} base={market.base} />
              <p className="visually-hidden">{summaryOf(market, interval, candles.candles)}</p>
              <div className={chartStyles.drawing}>
                <Suspense fallback={<Skeleton height={24} />}>
                  <CandleChart
                    candles={candles.candles}
                    intervalMs={interval.ms}
                    spanMs={spanMs}
                    onPoint={setPointed}
                    onReachOldest={candles.loadOlder}
                  />
                </Suspense>
              </div>
            </>
          )}
          <div className={styles.notes}>
            <span>{noteOf(candles, market, isTable)}</span>
            <Attribution />
          </div>
        </CandlesState>
      </div>
    </Panel>
  );
}

type CandlesStateProps = {
  readonly market: Market;
  readonly poolErrors: readonly GatewayError[];
  readonly candles: Candles;
  readonly children: ReactNode;
};

/** Shows the candles, or why there are none. */
function CandlesState({ market, poolErrors, candles: { candles, answer }, children }: CandlesStateProps) {
  const isOff = useLastingKeys().includes('history');
  if (candles.length > 0) return children;
  return <div className={chartStyles.state}>{reason()}</div>;

  function reason(): ReactNode {
    const { pool } = market;
    if (pool === undefined) {
      if (poolErrors.length > 0) return <ErrorState errors={poolErrors} />;
      return (
        <EmptyState title="There is no pool of these tokens">
          <p>The market-data host lists this market, but the node has no pool for it. Candles are prices of a pool.</p>
        </EmptyState>
      );
    }
    if (isOff) {
      return (
        <EmptyState title="This gateway records no history">
          <p>Without recorded prices there are no candles. Live prices are not affected.</p>
        </EmptyState>
      );
    }
    const errors = errorsAt(answer.errors, ['poolPair', 'candles']);
    if (errors.length > 0) return <ErrorState errors={errors} retry={answer.retry} />;
    if (answer.isLoading) return <Skeleton height={24} />;
    if (pool.price === null && isEmptyPool(pool)) {
      return (
        <EmptyState title="The pool is empty">
          <p>One of its sides has no tokens, so it has no price.</p>
        </EmptyState>
      );
    }
    if (market.base.decimals === null || market.target.decimals === null) return <UnknownDecimals market={market} />;
    return (
      <EmptyState title="Nothing is recorded yet">
        <p>The gateway records each final height. The first candle comes with one of the next heights.</p>
      </EmptyState>
    );
  }
}

function UnknownDecimals({ market: { base, target } }: { readonly market: Market }) {
  const tokens = [base, target].filter(({ decimals }) => decimals === null);
  return (
    <EmptyState title="There is no price">
      <p>
        {`The decimals of ${tokens.length === 2 ? 'both tokens' : 'one of the tokens'} are not known, and the gateway never guesses them. Without them, amounts are not prices.`}
      </p>
    </EmptyState>
  );
}

/** What a screen reader says instead of the chart. */
function summaryOf(market: Market, { name }: Interval, candles: readonly ChartCandle[]): string {
  const newest = candles.at(-1);
  if (newest === undefined) return '';
  const high = candles.reduce((highest, candle) => Math.max(highest, candle.high), Number.NEGATIVE_INFINITY);
  const low = candles.reduce((lowest, candle) => Math.min(lowest, candle.low), Number.POSITIVE_INFINITY);
  return `A chart of ${nameOfMarket(market)} with ${candles.length} candles of ${name}, between ${formatPrice(low)} and ${formatPrice(high)} ${unitOfPrice(market)}. The table has all figures.`;
}

function noteOf({ candles, isLoadingOlder, isAtStart }: Candles, market: Market, isTable: boolean): string {
  if (isLoadingOlder) return 'Loading older candles…';
  const unit = `${unitOfPrice(market)}, times in UTC.`;
  const missing = candles.filter(({ isComplete }) => !isComplete).length;
  if (missing > 0)
    return `${unit} ${isTable ? 'Candles with *' : 'Paler candles'} (${missing}) miss some heights of the recorded history.`;
  return isAtStart ? `${unit} The history begins here.` : unit;
}
