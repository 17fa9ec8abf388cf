import type { ReactNode } from 'react';
import type { GatewayError } from '../../client/errors.ts';
import { type SentQuery, useHead } from '../../client/hooks.ts';
import { formatPercent, formatPrice, formatQuantity, UNKNOWN } from '../../format/numbers.ts';
import { nameOfToken } from '../../format/prices.ts';
import { explainError } from '../../parts/error-text.ts';
import { Freshness } from '../../parts/freshness.tsx';
import { LiveNumber } from '../../parts/live-number.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import styles from './figures.module.css';
import { amountWithUnit, isCoarsePrice, type Market, type MarketFigures, reservesOf, unitOfPrice } from './market.ts';

type FiguresPanelProps = {
  readonly market: Market;
  readonly figures: MarketFigures;
  readonly query: SentQuery;
  /** Why the pool could not be read. */
  readonly poolErrors: readonly GatewayError[];
};

/** The price of a market that leads, live, with the last trade and what happened in 24 hours. `DetailsPanel` has all others. */
export function FiguresPanel({ market, figures, query, poolErrors }: FiguresPanelProps) {
  const { price, lastPrice, change, hostVolume } = figures;
  const head = useHead();
  const base = nameOfToken(market.base);
  const shown = price ?? lastPrice;
  const reserves = reservesOf(market);
  const isOfHead = head !== undefined && market.pool?.beaconHeight === head.beaconHeight;

  return (
    <Panel
      title="Market"
      query={query}
      freshness={<Freshness height={market.pool?.beaconHeight} observedAt={isOfHead ? head.time : undefined} />}
    >
      <div className={styles.content}>
        <div className={styles.main}>
          <p className={styles.price}>
            <LiveNumber value={shown}>{formatPrice(shown)}</LiveNumber>
          </p>
          <p className={styles.unit}>{unitOfPrice(market)}</p>
          <Change percent={change?.percent ?? null} />
          <p className={styles.note}>
            {price === null && lastPrice !== null
              ? 'Price of the last trade'
              : `Price of the pool at this height, by the exchange's formula for one whole ${base}`}
          </p>
          <p className={styles.note}>{noteOf(market, figures, poolErrors)}</p>
        </div>
        <dl className={styles.list}>
          {market.pair !== undefined && (
            <Figure name="Last trade">
              <LiveNumber value={lastPrice}>{formatPrice(lastPrice)}</LiveNumber>
            </Figure>
          )}
          <Figure name="24 h high">{formatPrice(change?.high)}</Figure>
          <Figure name="24 h low">{formatPrice(change?.low)}</Figure>
          <Figure name="24 h volume">
            {hostVolume === undefined ? tradedInPool(market, figures) : `${formatQuantity(hostVolume.base)} ${base}`}
          </Figure>
          {reserves !== undefined && (
            <Figure name="In the pool" isWide>
              {`${amountWithUnit(reserves.base, market.base)}, ${amountWithUnit(reserves.target, market.target)}`}
            </Figure>
          )}
        </dl>
      </div>
    </Panel>
  );
}

/** The base tokens that were traded through the pool in 24 hours. */
export function tradedInPool(market: Market, { change }: MarketFigures): string {
  if (change == null) return UNKNOWN;
  return amountWithUnit(market.isInverse ? change.tradedToken1 : change.tradedToken2, market.base);
}

type FigureProps = {
  readonly name: string;
  readonly meaning?: string;
  /** Whether it needs the room of two on a phone. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
};

/** A figure with its name and, in a line below it, what it means. */
export function Figure({ name, meaning, isWide = false, children }: FigureProps) {
  return (
    <div className={isWide ? `${styles.figure} ${styles.wide}` : styles.figure}>
      <dt>{name}</dt>
      <dd translate="no">{children}</dd>
      {meaning !== undefined && <dd className={styles.meaning}>{meaning}</dd>}
    </div>
  );
}

function Change({ percent }: { readonly percent: number | null }) {
  const direction = percent === null || Math.abs(percent) < 0.005 ? undefined : percent > 0 ? 'up' : 'down';
  const arrow = direction === undefined ? '' : { up: '▲ ', down: '▼ ' }[direction];
  return (
    <p className={styles.change} data-direction={direction}>
      <span aria-hidden="true">{arrow}</span>
      <span>{`${percent === null ? UNKNOWN : formatPercent(percent)} in 24 h`}</span>
    </p>
  );
}

/** What a reader should know about these figures, the most important first. */
function noteOf(
  { pool, base, target }: Market,
  { price, change }: MarketFigures,
  poolErrors: readonly GatewayError[],
): ReactNode {
  const [error] = poolErrors;
  if (pool === undefined)
    return error === undefined ? 'The node has no pool of these tokens.' : explainError(error).title;
  if (base.decimals === null || target.decimals === null) return 'No price: the decimals of a token are not known.';
  if (price === null) return 'No price: the pool has an empty side.';
  if (isCoarsePrice(price, target)) {
    return `This price counts whole smallest units of ${nameOfToken(target)}, so it has few digits. The spot price has more.`;
  }
  if (change == null) return 'No history is recorded for this pool.';
  if (change.isComplete) return undefined;
  return (
    <>
      <span>The recorded history begins</span> <RelativeTime time={change.fromTime} />
      <span>, or has gaps.</span>
    </>
  );
}
