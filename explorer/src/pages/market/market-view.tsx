import { Link } from 'react-router';
import { Page } from '../../app/page.tsx';
import { useServiceStatus } from '../../app/service-status.ts';
import { useUnit } from '../../app/unit.ts';
import { withParameter } from '../../app/url-parameters.ts';
import type { GatewayError } from '../../client/errors.ts';
import { type SentQuery, useConnectionState, useHead } from '../../client/hooks.ts';
import { useIsVisible } from '../../client/visibility.ts';
import { formatPrice, formatUsdPrice } from '../../format/numbers.ts';
import { shortPoolId } from '../../format/prices.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { FavouriteButton } from '../../parts/favourite-button.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { TokenBadge } from '../../parts/token-badge.tsx';
import { BookPanel } from './book/book-panel.tsx';
import { CandlesPanel } from './candles/candles-panel.tsx';
import { DepthPanel } from './depth/depth-panel.tsx';
import { DetailsPanel } from './details-panel.tsx';
import { DivergencePanel } from './divergence-panel.tsx';
import { FiguresPanel } from './figures-panel.tsx';
import { type Market, type MarketFigures, nameOfMarket, tokenIdsOf, usdOf } from './market.ts';
import styles from './market-view.module.css';
import { isOldPrice } from './old-price.ts';
import { PoolPanel } from './pool-panel.tsx';
import { SwapPanel } from './swap/swap-panel.tsx';
import { TradesPanel } from './trades/trades-panel.tsx';
import { useTradedVolume } from './trades/use-traded-volume.ts';

type MarketViewProps = {
  readonly market: Market;
  readonly figures: MarketFigures;
  readonly query: SentQuery;
  readonly poolErrors: readonly GatewayError[];
};

/** Everything about a market, or about a pool alone, which has no order book in V1. */
export function MarketView({ market, figures, query, poolErrors }: MarketViewProps) {
  const { pair, pairs, pool, base, target } = market;
  const { token1Id, token2Id } = tokenIdsOf(market);
  const name = nameOfMarket(market);
  const price = figures.price ?? figures.lastPrice;
  const usdPrice = usdOf([price, target]);
  const shownPrice = useUnit() === 'USD' && usdPrice !== null ? formatUsdPrice(usdPrice) : formatPrice(price);
  const isOld = useIsOld(figures);
  const poolId = pool?.poolId ?? undefined;
  const id = pair?.poolId ?? poolId ?? `${token1Id}-${token2Id}`;
  const { traded, whyNone } = useTradedVolume(market);
  const hasBook = pair !== undefined || poolId !== undefined;
  return (
    <Page
      title={name}
      tabTitle={price === null ? name : `${isOld ? '(old) ' : ''}${shownPrice} ${name}`}
      heading={
        <span className={styles.heading}>
          <TokenBadge token={base} />
          <span className={styles.separator}>/</span>
          <TokenBadge token={target} />
        </span>
      }
      beside={<FavouriteButton name={name} poolIds={pairs.length > 1 ? pairs.map(({ poolId }) => poolId) : [id]} />}
      description={
        <span className={styles.description}>
          <span>{pair === undefined ? 'Pool of the node' : `Market ${pair.tickerId}`}</span>
          <span title={id}>
            <span>{`Pool ${shortPoolId(id)}`}</span> <CopyButton text={id} what="pool id" />
          </span>
          {pairs.length > 1 && (
            <>
              <span>{`${pairs.length} pairs trade in this pool:`}</span>
              {pairs.map(({ tickerId, poolId }) => (
                <Link
                  key={poolId}
                  to={marketPath(tickerId, poolId)}
                  aria-current={poolId === pair?.poolId ? 'page' : undefined}
                  title={`${tickerId} ${poolId}`}
                >
                  {shortPoolId(poolId)}
                </Link>
              ))}
            </>
          )}
        </span>
      }
    >
      <FiguresPanel
        market={market}
        figures={figures}
        traded={traded}
        whyNotTraded={whyNone}
        query={query}
        poolErrors={poolErrors}
      />
      {/* Another market has panels of its own. */}
      <div key={id} className={`${styles.grid} ${poolId !== undefined ? styles.v3 : hasBook ? '' : styles.alone}`}>
        <div className={styles.candles}>
          <CandlesPanel market={market} poolErrors={poolErrors} />
        </div>
        {pool && poolId !== undefined && (
          <div className={styles.pool}>
            <PoolPanel market={market} pool={pool} poolId={poolId} />
          </div>
        )}
        <div className={styles.details}>
          <DetailsPanel market={market} figures={figures} traded={traded} />
        </div>
        {hasBook && (
          <div className={styles.book}>
            <BookPanel market={market} tickerId={pair?.tickerId} />
          </div>
        )}
        {poolId !== undefined && (
          <div className={styles.trades}>
            <TradesPanel market={market} poolId={poolId} />
          </div>
        )}
        <div className={styles.swap}>
          <SwapPanel market={market} />
        </div>
        <div className={styles.depth}>
          <DepthPanel market={market} poolErrors={poolErrors} />
        </div>
        {pair && (
          <div className={styles.divergence}>
            <DivergencePanel market={market} poolId={pair.poolId} />
          </div>
        )}
      </div>
    </Page>
  );
}

function useIsOld({ price }: MarketFigures): boolean {
  const connection = useConnectionState();
  const head = useHead();
  const marketData = useServiceStatus()?.marketData;
  const isVisible = useIsVisible();
  const isOfPool = price !== null;
  return isOldPrice({ isOfPool, connection, isStale: (isOfPool ? head : marketData)?.stale, isVisible });
}

/** The path of a market whose ticker id may be that of several, with other parameters of the URL. */
export function marketPath(tickerId: string, poolId: string, parameters = new URLSearchParams()): string {
  return `/market/${encodeURIComponent(tickerId)}?${withParameter(parameters, 'pool', poolId)}`;
}

/** Stands where a market will be. Its panels have their sizes already, so that a page that begins again stays where it is. */
export function MarketSkeleton({ title, hasBook }: { readonly title: string; readonly hasBook: boolean }) {
  return (
    <Page title={title} description={<span>Loading…</span>}>
      <Panel title="Market" freshness="" isBusy>
        <div className={styles.skeletonFigures}>
          <Skeleton lines={6} />
        </div>
      </Panel>
      <div className={hasBook ? styles.grid : `${styles.grid} ${styles.alone}`}>
        <SkeletonPanel title="Price" area={styles.candles} />
        <div className={`${styles.details} ${styles.skeletonDetails}`} />
        {hasBook && <SkeletonPanel title="Order book" area={styles.book} />}
        <SkeletonPanel title="Swap" area={styles.swap} />
        <SkeletonPanel title="Depth" area={styles.depth} />
      </div>
    </Page>
  );
}

type SkeletonPanelProps = { readonly title: string; readonly area: string | undefined };

function SkeletonPanel({ title, area }: SkeletonPanelProps) {
  return (
    <div className={area}>
      <Panel title={title} freshness="" isBusy isFlush>
        <div className={styles.skeleton}>
          <Skeleton lines={8} />
        </div>
      </Panel>
    </div>
  );
}
