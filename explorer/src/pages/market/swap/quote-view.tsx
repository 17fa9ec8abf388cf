import { Link } from 'react-router';
import { formatExactAmount, withUnit } from '../../../format/amounts.ts';
import { formatInteger, formatPercent, formatPrice } from '../../../format/numbers.ts';
import { nameOfToken, shortPoolId } from '../../../format/prices.ts';
import { amountWithUnit, type Market, type MarketToken, unitOfAmount, unitOfPrice } from '../market.ts';
import { poolPath } from '../pool-id.ts';
import { formatFeeRate } from '../pool-terms.ts';
import { IMPACT_WARNINGS, impactLevel } from './price-impact.ts';
import type { SwapQuoteSubscription } from './swap.generated.ts';
import styles from './swap.module.css';

/** A quote of the gateway. */
export type Quote = NonNullable<SwapQuoteSubscription['quote']>;

type QuoteViewProps = {
  readonly market: Market;
  readonly quote: Quote;
  readonly pays: MarketToken;
  readonly receives: MarketToken;
  readonly isBuying: boolean;
  /** Whether it is for other values than those of the form. */
  readonly isOutdated: boolean;
  /** Why the quote is older than it should be. */
  readonly staleReason: string | undefined;
};

/** What a trade would give, and which way it takes. */
export function QuoteView({ market, quote, pays, receives, isBuying, isOutdated, staleReason }: QuoteViewProps) {
  const level = impactLevel(quote.priceImpactPercent);
  const warning = IMPACT_WARNINGS[level];
  return (
    <>
      <dl className={styles.result} data-outdated={isOutdated || staleReason !== undefined}>
        <dt>Trade price</dt>
        <dd translate="no">
          {withUnit(formatPrice(priceInTarget(quote.price, isBuying)), quote.price === null ? '' : unitOfPrice(market))}
        </dd>
        <dt>Price impact</dt>
        <dd className={styles.impact} data-level={level}>
          {`${formatPercent(quote.priceImpactPercent, { sign: false })} (${meaningOfImpact(quote)})`}
        </dd>
        <dt>Received at least</dt>
        <dd translate="no">
          {withUnit(formatExactAmount(quote.minimumReceived, receives.decimals), unitOfAmount(receives))}
        </dd>
        <dt>Trading fee</dt>
        {quote.fee === null ? <dd>not included</dd> : <Fee fee={quote.fee} pays={pays} />}
        <dt>Quoted at</dt>
        <dd>{isOutdated ? 'before your change' : `height ${formatInteger(quote.beaconHeight)}`}</dd>
        <dt className={styles.wide}>
          {quote.route.length > 1 && quote.fee !== null ? `Route through ${quote.route.length} pools` : 'Route'}
        </dt>
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

/** A quote in a short sentence, for a screen reader. A block that changes none of these digits gives the same one. */
export function sentenceOfQuote(
  quote: Pick<Quote, 'sellAmount' | 'buyAmount' | 'priceImpactPercent'>,
  pays: MarketToken,
  receives: MarketToken,
  isStale: boolean,
): string {
  const amounts = `You receive ${amountWithUnit(quote.buyAmount, receives)} for ${amountWithUnit(quote.sellAmount, pays)}`;
  const impact = `impact on the price: ${formatPercent(quote.priceImpactPercent, { sign: false })}, ${meaningOfImpact(quote)}`;
  return `${amounts}, ${impact}.${isStale ? ' This quote is old.' : ''}`;
}

function meaningOfImpact({ priceImpactPercent }: Pick<Quote, 'priceImpactPercent'>): string {
  return priceImpactPercent <= -0.005 ? 'orders are better than the pool' : impactLevel(priceImpactPercent);
}

function Route({ route }: { readonly route: Quote['route'] }) {
  return (
    <ol className={styles.route}>
      {route.map(({ sellToken, buyToken, sellAmount, buyAmount, priceImpactPercent, poolPair }) => (
        <li key={poolPair.id}>
          <span translate="no">{`${amountWithUnit(sellAmount, sellToken)} → ${amountWithUnit(buyAmount, buyToken)}`}</span>
          <span className={styles.step}>
            <Link
              to={poolPath(sellToken.tokenId, buyToken.tokenId, poolPair.poolId)}
              title={poolPair.poolId ?? undefined}
            >
              {`Pool ${nameOfToken(sellToken)}/${nameOfToken(buyToken)}${poolPair.poolId === null ? '' : ` ${shortPoolId(poolPair.poolId)}`}`}
            </Link>{' '}
            <span>
              {`${poolPair.feeRateBps === null ? '' : `fee ${formatFeeRate(poolPair.feeRateBps)}, `}impact ${formatPercent(priceImpactPercent, { sign: false })}`}
            </span>
          </span>
        </li>
      ))}
    </ol>
  );
}

type FeeProps = { readonly fee: NonNullable<Quote['fee']>; readonly pays: MarketToken };

/** The least fee, on top of what is paid: in the token that is paid, or in the native coin. */
function Fee({ fee: { rateBps, inSellToken, inNativeToken }, pays }: FeeProps) {
  const isNative = pays.tokenId === NATIVE_COIN.tokenId;
  return (
    <dd translate="no" className={styles.fee}>
      <span>{`${amountWithUnit(inSellToken, pays)} (${formatFeeRate(rateBps)})`}</span>
      {!isNative && inNativeToken !== null && <span>{`or ${amountWithUnit(inNativeToken, NATIVE_COIN)}`}</span>}
    </dd>
  );
}

/** The native coin of the chain, in which a fee is lower. */
const NATIVE_COIN: MarketToken = { id: '', tokenId: '4'.padStart(64, '0'), symbol: 'PRV', decimals: 9, usdPrice: null };

type Costs = Pick<Quote, 'beaconHeight' | 'sellAmount' | 'buyAmount' | 'fee'>;

/**
 * Whether a trade gives more than another one for what is paid, with the least fee in the same token.
 *
 * @param before the answer of the block before: it stays until both quotes of a block are there
 */
export function isCheaper(one: Costs, other: Costs, before: boolean): boolean {
  if (one.beaconHeight !== other.beaconHeight) return before;
  const paid = ({ sellAmount, fee }: Costs) => BigInt(sellAmount) + BigInt(fee?.inSellToken ?? 0);
  return paid(one) * BigInt(other.buyAmount) < paid(other) * BigInt(one.buyAmount);
}

/** The price of a quote counts tokens that are paid for one that is received. */
function priceInTarget(price: string | null, isBuying: boolean): number | null {
  if (price === null) return null;
  return isBuying ? Number(price) : 1 / Number(price);
}
