import type { ReactNode } from 'react';
import { useLastingKeys, useServiceStatus } from '../../app/service-status.ts';
import { NO_USD_LIQUIDITY, NO_USD_PRICE, type Unit, useUnit } from '../../app/unit.ts';
import type { GatewayError } from '../../client/errors.ts';
import { type SentQuery, useHead } from '../../client/hooks.ts';
import { withUnit } from '../../format/amounts.ts';
import {
  formatInteger,
  formatPercent,
  formatPrice,
  formatQuantity,
  formatUsd,
  formatUsdPrice,
  UNKNOWN,
} from '../../format/numbers.ts';
import { nameOfToken } from '../../format/prices.ts';
import { explainError } from '../../parts/error-text.ts';
import { Freshness } from '../../parts/freshness.tsx';
import { LiveNumber } from '../../parts/live-number.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import styles from './figures.module.css';
import {
  amountWithUnit,
  isCoarsePrice,
  isOfV3,
  leastTraded,
  type Market,
  type MarketFigures,
  rangeOfDay,
  reservesOf,
  tradedUsd,
  unitOfPrice,
  usdOf,
  volumeUsd,
  whyNoChange,
} from './market.ts';
import type { TradedVolume } from './trades/use-traded-volume.ts';

type FiguresPanelProps = {
  readonly market: Market;
  readonly figures: MarketFigures;
  readonly traded: TradedVolume | undefined;
  /** Why `traded` is undefined, if it is. */
  readonly whyNotTraded: string;
  readonly query: SentQuery;
  /** Why the pool could not be read. */
  readonly poolErrors: readonly GatewayError[];
};

/** The price of a market that leads, live, with the last trade and what happened in 24 hours. `DetailsPanel` has all others. */
export function FiguresPanel({ market, figures, traded, whyNotTraded, query, poolErrors }: FiguresPanelProps) {
  const { price, lastPrice, change, hostVolume } = figures;
  const head = useHead();
  const unit = useUnit();
  const noChange = whyNoChange(!useLastingKeys().includes('history'), useServiceStatus()?.historyStatus);
  const isUsd = unit === 'USD';
  const [base, target] = [nameOfToken(market.base), nameOfToken(market.target)];
  const shown = price ?? lastPrice;
  const range = rangeOfDay(figures);
  const reserves = reservesOf(market);
  const liquidityUsd = market.pool?.liquidityUsd ?? null;
  const volume =
    hostVolume === undefined ? tradedInPool(market, figures) : withUnit(formatQuantity(hostVolume.base), base);
  const inUsd = (amount: number | null) => usdOf([amount, market.target]);
  const whyNot = isUsd && market.target.usdPrice === null ? `${NO_USD_PRICE}, ${target}` : undefined;
  const onChain = traded ?? leastTraded(market, figures);
  const isOfHead = head !== undefined && market.pool?.beaconHeight === head.beaconHeight;

  return (
    <Panel
      title="Market"
      query={query}
      freshness={<Freshness height={market.pool?.beaconHeight} observedAt={isOfHead ? head.time : undefined} />}
    >
      <div className={styles.content}>
        <div className={styles.main}>
          <p className={styles.price} title={whyNot}>
            {priceInUnit(shown)}
          </p>
          <p className={styles.unit}>
            {isUsd ? `USD per ${base} · ${withUnit(formatPrice(shown), target)}` : unitOfPrice(market)}
          </p>
          <Change percent={change?.percent ?? null} of={isUsd ? `, in ${target}` : ''} />
          <p className={styles.note}>
            {price === null && lastPrice !== null
              ? 'Price of the last trade'
              : `Price of the pool at this height, by the exchange's formula for one whole ${base}`}
          </p>
          <p className={styles.note}>{noteOf(market, figures, poolErrors, unit, noChange)}</p>
          {change?.isComplete === false && (
            <p className={styles.note}>
              <span>The recorded history begins</span> <RelativeTime time={change.fromTime} />
              <span>, or has gaps.</span>
            </p>
          )}
        </div>
        <dl className={styles.list}>
          {market.pair !== undefined && (
            <Figure name="Last trade" meaning={BY_HOST} title={whyNot}>
              {priceInUnit(lastPrice)}
            </Figure>
          )}
          <Figure name="24 h high">{recordedPrice(range?.high)}</Figure>
          <Figure name="24 h low">{recordedPrice(range?.low)}</Figure>
          {(hostVolume !== undefined || !isOfV3(market)) && (
            <Figure
              name="24 h volume"
              meaning={hostVolume === undefined ? undefined : BY_HOST}
              title={isUsd ? volume : undefined}
            >
              {isUsd ? formatUsd(volumeUsd(market, figures)) : volume}
            </Figure>
          )}
          {isOfV3(market) && (
            <Figure
              name="24 h volume on the chain"
              meaning={onChain === undefined ? whyNotTraded : <MeaningOfTraded traded={traded} />}
              title={isUsd ? amountWithUnit(onChain?.base, market.base) : undefined}
              isWide
            >
              {isUsd ? formatUsd(tradedUsd(market, onChain)) : amountWithUnit(onChain?.base, market.base)}
            </Figure>
          )}
          {reserves !== undefined && (
            <Figure name="In the pool" isWide meaning={isUsd && liquidityUsd === null ? NO_USD_LIQUIDITY : undefined}>
              {`${isUsd ? `${formatUsd(liquidityUsd)}: ` : ''}${amountWithUnit(reserves.base, market.base)}, ${amountWithUnit(reserves.target, market.target)}`}
            </Figure>
          )}
        </dl>
      </div>
    </Panel>
  );

  function priceInUnit(price: number | null): ReactNode {
    const value = isUsd ? inUsd(price) : price;
    return (
      <LiveNumber key={unit} value={value}>
        {isUsd ? formatUsdPrice(value) : formatPrice(value)}
      </LiveNumber>
    );
  }

  /** What the target token was worth then is not recorded. */
  function recordedPrice(price: number | null | undefined): string {
    return isUsd && price != null ? withUnit(formatPrice(price), target) : formatPrice(price);
  }
}

/** The source of a figure that is not of the pool: a last trade can be outside of the pool's high and low. */
const BY_HOST = 'by the market-data host';

/** What the trades of the chain are a sum of: all of 24 hours, or those that are known. */
export function MeaningOfTraded({ traded }: { readonly traded: TradedVolume | undefined }) {
  if (traded === undefined) return <span>At least, as the recorded amounts of the pool show it.</span>;
  const { trades, since, isComplete } = traded;
  const count = `${formatInteger(trades)} ${trades === 1 ? 'trade' : 'trades'}`;
  if (isComplete) return <span>{count}</span>;
  return (
    <>
      <span>{`At least: ${count} since`}</span> <RelativeTime time={since} />
    </>
  );
}

/** The base tokens that were traded through the pool in 24 hours. */
export function tradedInPool(market: Market, figures: MarketFigures): string {
  return amountWithUnit(leastTraded(market, figures)?.base, market.base);
}

type FigureProps = {
  readonly name: string;
  readonly meaning?: ReactNode;
  /** Whether it needs the room of two on a phone. */
  readonly isWide?: boolean;
  readonly title?: string | undefined;
  readonly children: ReactNode;
};

/** A figure with its name and, in a line below it, what it means. */
export function Figure({ name, meaning, isWide = false, title, children }: FigureProps) {
  return (
    <div className={isWide ? `${styles.figure} ${styles.wide}` : styles.figure}>
      <dt>{name}</dt>
      <dd translate="no" title={title}>
        {children}
      </dd>
      {meaning !== undefined && <dd className={styles.meaning}>{meaning}</dd>}
    </div>
  );
}

type ChangeProps = {
  readonly percent: number | null;
  /** Of which price it is, if that is not the one above. */
  readonly of: string;
};

function Change({ percent, of }: ChangeProps) {
  const direction = percent === null || Math.abs(percent) < 0.005 ? undefined : percent > 0 ? 'up' : 'down';
  const arrow = direction === undefined ? '' : { up: '▲ ', down: '▼ ' }[direction];
  return (
    <p className={styles.change} data-direction={direction}>
      <span aria-hidden="true">{arrow}</span>
      <span>{`${percent === null ? UNKNOWN : formatPercent(percent)} in 24 h${of}`}</span>
    </p>
  );
}

/** What a reader should know first about the price. */
function noteOf(
  { pool, base, target }: Market,
  { price, change }: MarketFigures,
  poolErrors: readonly GatewayError[],
  unit: Unit,
  noChange: string,
): string | undefined {
  const [error] = poolErrors;
  if (pool === undefined)
    return error === undefined ? 'The node has no pool of these tokens.' : explainError(error).title;
  if (base.decimals === null || target.decimals === null) return 'No price: the decimals of a token are not known.';
  if (price === null) return 'No price: the pool has an empty side.';
  if (unit === 'USD' && target.usdPrice === null) return `${NO_USD_PRICE}, ${nameOfToken(target)}.`;
  if (isCoarsePrice(price, target)) {
    return `This price counts whole smallest units of ${nameOfToken(target)}, so it has few digits. The spot price has more.`;
  }
  return change == null ? noChange : undefined;
}
