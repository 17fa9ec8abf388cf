import { lazy, type ReactNode, Suspense, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { currentParameters, IN_PLACE, withParameter } from '../../../app/url-parameters.ts';
import chartStyles from '../../../charts/charts.module.css';
import type { GatewayError } from '../../../client/errors.ts';
import { useIsWatched } from '../../../client/visibility.ts';
import { withUnit } from '../../../format/amounts.ts';
import { formatPrice, formatQuantity } from '../../../format/numbers.ts';
import { nameOfToken } from '../../../format/prices.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { ErrorState } from '../../../parts/error-state.tsx';
import { Freshness } from '../../../parts/freshness.tsx';
import { Panel } from '../../../parts/panel.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { Tabs } from '../../../parts/tabs.tsx';
import { isOfV3, type Market, unitOfPrice } from '../market.ts';
import styles from './depth.module.css';
import type { DepthCurve } from './depth-curve.ts';
import type { PointedDepth } from './depth-drawing.ts';
import { RANGES, rangeOf } from './ranges.ts';
import { type Depth, useDepth } from './use-depth.ts';

// The library of the charts is loaded when the first one is drawn.
const DepthChart = lazy(async () => ({ default: (await import('./depth-chart.tsx')).DepthChart }));

const DEFAULT_RANGE = rangeOf(null).value;

type DepthPanelProps = { readonly market: Market; readonly poolErrors: readonly GatewayError[] };

/** How much can be traded up to each price: the pool and the order book as one. */
export function DepthPanel({ market, poolErrors }: DepthPanelProps) {
  const [parameters, setParameters] = useSearchParams();
  const range = rangeOf(parameters.get('range'));
  const element = useRef<HTMLDivElement>(null);
  const isWatched = useIsWatched(element);
  const depth = useDepth(market, range, !isWatched);
  const [pointed, setPointed] = useState<PointedDepth>();
  const { curve } = depth;

  return (
    <Panel
      title="Depth"
      query={depth.query}
      freshness={<Freshness height={depth.height} />}
      isBusy={depth.isLoading && market.pool !== undefined}
      isFlush
    >
      <div ref={element} className={styles.content}>
        <div className={chartStyles.controls}>
          <Tabs
            label="Range of the depth chart"
            tabs={RANGES}
            value={range.value}
            onChange={(value) =>
              setParameters(withParameter(currentParameters(), 'range', value === DEFAULT_RANGE ? '' : value), IN_PLACE)
            }
          />
          <div className={styles.key}>
            {depth.hasBook && (
              <span className={styles.total}>{isOfV3(market) ? 'Pool and its orders' : 'Pool and order book'}</span>
            )}
            <span className={styles.pool}>
              {isOfV3(market) && !depth.hasBook ? 'Pool and its orders' : 'Pool alone'}
            </span>
          </div>
        </div>
        {curve === undefined ? (
          <div className={chartStyles.state}>{reasonOf(market, depth, poolErrors)}</div>
        ) : (
          <>
            <p className={`${chartStyles.legend} ${styles.legend}`}>{describe(market, curve, pointed)}</p>
            <div className={chartStyles.drawing}>
              <Suspense fallback={<Skeleton height={14} />}>
                <DepthChart curve={curve} onPoint={setPointed} />
              </Suspense>
            </div>
          </>
        )}
      </div>
    </Panel>
  );
}

/** What can be traded up to the price under the pointer, or up to both ends of the chart. */
function describe(market: Market, { bids, asks }: DepthCurve, pointed: PointedDepth | undefined): ReactNode {
  const base = nameOfToken(market.base);
  const target = nameOfToken(market.target);
  const ask = pointed?.side === 'asks' ? pointed : asks.at(-1);
  const bid = pointed?.side === 'bids' ? pointed : bids.at(-1);
  return (
    <>
      {pointed?.side !== 'bids' && ask && (
        <>
          <span>Up to</span> <b translate="no">{formatPrice(ask.price)}</b> <span>{`${unitOfPrice(market)},`}</span>{' '}
          <b translate="no">{formatQuantity(ask.quantity)}</b>
          {'\u00a0'}
          <span>{`${base} can be bought for ${withUnit(formatQuantity(ask.total), target)}.`}</span>{' '}
        </>
      )}
      {pointed?.side !== 'asks' && bid && (
        <>
          <span>Down to</span> <b translate="no">{formatPrice(bid.price)}</b>
          <span>,</span> <b translate="no">{formatQuantity(bid.quantity)}</b>
          {'\u00a0'}
          <span>{`${base} can be sold for ${withUnit(formatQuantity(bid.total), target)}.`}</span>
        </>
      )}
    </>
  );
}

function reasonOf({ pool, base, target }: Market, depth: Depth, poolErrors: readonly GatewayError[]): ReactNode {
  if (pool === undefined) {
    return poolErrors.length > 0 ? (
      <ErrorState errors={poolErrors} />
    ) : (
      <EmptyState title="There is no pool of these tokens" />
    );
  }
  if (depth.errors.length > 0) return <ErrorState errors={depth.errors} retry={depth.retry} />;
  if (depth.isLoading) return <Skeleton height={16} />;
  const isUnknown = base.decimals === null || target.decimals === null;
  if (isUnknown) return <EmptyState title="The decimals of a token are not known" />;
  return <EmptyState title={pool.price === null ? 'The pool is empty' : 'A side of the pool is empty'} />;
}
