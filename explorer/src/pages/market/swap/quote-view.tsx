import { Link } from 'react-router';
import { formatExactAmount } from '../../../format/amounts.ts';
import { formatInteger, formatPercent, formatPrice } from '../../../format/numbers.ts';
import { nameOfToken } from '../../../format/prices.ts';
import { amountWithUnit, type Market, type MarketToken, unitOfAmount, unitOfPrice } from '../market.ts';
import { poolPath } from '../pool-id.ts';
import { IMPACT_WARNINGS, impactLevel } from './price-impact.ts';
import type { SwapQuoteSubscription } from './swap.generated.ts';
import styles from './swap.module.css';

/** A quote of the gateway. */
export type Quote = NonNullable<SwapQuoteSubscription['quote']>;

type QuoteViewProps = {
  readonly market: Market;
  readonly quote: Quote;
  readonly receives: MarketToken;
  readonly isBuying: boolean;
  readonly slippagePercent: number;
  /** Whether it is for another amount than the one that is typed. */
  readonly isOutdated: boolean;
  /** Why the quote is older than it should be. */
  readonly staleReason: string | undefined;
};

/** What a trade would give, and which way it takes. */
export function QuoteView({
  market,
  quote,
  receives,
  isBuying,
  slippagePercent,
  isOutdated,
  staleReason,
}: QuoteViewProps) {
  const level = impactLevel(quote.priceImpactPercent);
  const warning = IMPACT_WARNINGS[level];
  return (
    <>
      <dl className={styles.result} data-outdated={isOutdated || staleReason !== undefined}>
        <dt>Trade price</dt>
        <dd translate="no">
          {`${formatPrice(priceInTarget(quote.price, isBuying))} ${quote.price === null ? '' : unitOfPrice(market)}`}
        </dd>
        <dt>Price impact</dt>
        <dd className={styles.impact} data-level={level}>
          {`${formatPercent(quote.priceImpactPercent, { sign: false })} (${level})`}
        </dd>
        <dt>Received at least</dt>
        <dd translate="no" title={`with ${slippagePercent}% slippage`}>
          {`${formatExactAmount(quote.minimumReceived, receives.decimals)} ${unitOfAmount(receives)}`}
        </dd>
        <dt>Trading fee</dt>
        <dd>not included</dd>
        <dt>Quoted at</dt>
        <dd>{`height ${formatInteger(quote.beaconHeight)}`}</dd>
        <dt className={styles.wide}>Route</dt>
        <dd className={styles.wide}>
          <Route route={quote.route} />
        </dd>
      </dl>
      {warning !== undefined && (
        <p className={level === 'noticeable' ? styles.note : `${styles.note} ${styles.danger}`}>{warning}</p>
      )}
      {staleReason !== undefined && <p className={styles.note}>{staleReason}</p>}
    </>
  );
}

function Route({ route }: { readonly route: Quote['route'] }) {
  return (
    <ol className={styles.route}>
      {route.map(({ sellToken, buyToken, sellAmount, buyAmount, priceImpactPercent, poolPair }) => (
        <li key={poolPair.id}>
          <span translate="no">{`${amountWithUnit(sellAmount, sellToken)} → ${amountWithUnit(buyAmount, buyToken)}`}</span>
          <span className={styles.step}>
            <Link to={poolPath(sellToken.tokenId, buyToken.tokenId)}>
              {`Pool ${nameOfToken(sellToken)}/${nameOfToken(buyToken)}`}
            </Link>{' '}
            <span>{`impact ${formatPercent(priceImpactPercent, { sign: false })}`}</span>
          </span>
        </li>
      ))}
    </ol>
  );
}

/** The price of a quote counts tokens that are paid for one that is received. */
function priceInTarget(price: string | null, isBuying: boolean): number | null {
  if (price === null) return null;
  return isBuying ? Number(price) : 1 / Number(price);
}
