import { useMemo, useState } from 'react';
import { useUnit } from '../../app/unit.ts';
import { useGatewayQuery } from '../../client/hooks.ts';
import { formatDecimal, withUnit } from '../../format/amounts.ts';
import { formatPrice, formatQuantity } from '../../format/numbers.ts';
import { nameOfToken } from '../../format/prices.ts';
import styles from './details.module.css';
import { MarketDivergenceDocument } from './divergence.generated.ts';
import figureStyles from './figures.module.css';
import { Figure, MeaningOfTraded, tradedInPool } from './figures-panel.tsx';
import { amountWithUnit, isOfV3, type Market, type MarketFigures, unitOfPrice } from './market.ts';
import type { TradedVolume } from './trades/use-traded-volume.ts';

type DetailsPanelProps = {
  readonly market: Market;
  readonly figures: MarketFigures;
  readonly traded: TradedVolume | undefined;
};

/** The other prices of a market and the sources of its volumes, each with why it differs. Closed until a reader wants it. */
export function DetailsPanel({ market, figures, traded }: DetailsPanelProps) {
  const isUsd = useUnit() === 'USD';
  const [isOpen, setIsOpen] = useState(false);
  const poolId = market.pair?.poolId ?? '';
  const { data } = useGatewayQuery(
    MarketDivergenceDocument,
    useMemo(() => ({ poolId }), [poolId]),
    { refresh: 'each-height', pause: !isOpen || market.pair === undefined },
  );
  const { exactPrice, spotPrice, hostVolume } = figures;
  const [base, target] = [nameOfToken(market.base), nameOfToken(market.target)];
  return (
    <details className={styles.details} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary className={styles.summary}>
        <h2>Details</h2>
        <span className={styles.hint}>
          {isUsd
            ? `Other prices in ${unitOfPrice(market)}, and sources of the volumes`
            : 'Other prices, and where the volumes come from'}
        </span>
      </summary>
      <dl className={`${figureStyles.list} ${styles.list}`}>
        <Figure
          name="Spot price"
          meaning={`The ratio of the ${isOfV3(market) ? 'virtual amounts' : 'reserves'}: the price of a tiny trade. The price above is that of one whole ${base}, which moves the pool.`}
        >
          {formatPrice(spotPrice)}
        </Figure>
        <Figure
          name="Exact price"
          meaning="The price of the pool in whole numbers, with all digits. The price above is a floating-point number, as the exchange computes it."
        >
          {formatDecimal(exactPrice)}
        </Figure>
        {market.pair !== undefined && (
          <>
            <Figure
              name="Middle of the book"
              meaning="Between the best bid and the best ask: of open orders, at whose prices nobody has traded yet."
            >
              {formatPrice(data?.pair?.divergence?.bookMidPrice)}
            </Figure>
            <Figure
              name="Last trade"
              meaning="As the market-data host sends it. It is older than the price of the pool if nobody has traded since."
            >
              {formatPrice(figures.lastPrice)}
            </Figure>
            {isOfV3(market) && (
              <Figure
                name="Newest trade on the chain"
                meaning="The average price of the newest trade through the pool."
              >
                {formatPrice(data?.pair?.divergence?.tradedPrice)}
              </Figure>
            )}
          </>
        )}
        {hostVolume !== undefined && (
          <Figure
            name="24 h volume by the market-data host"
            meaning="As the host counts it: the gateway only passes it on."
          >
            {`${withUnit(formatQuantity(hostVolume.base), base)}, ${withUnit(formatQuantity(hostVolume.target), target)}`}
          </Figure>
        )}
        {traded === undefined ? (
          <Figure
            name="24 h volume through the pool"
            meaning="At least: the trades of one block count as what they changed together in the recorded reserves."
          >
            {tradedInPool(market, figures)}
          </Figure>
        ) : (
          <Figure name="24 h volume on the chain" meaning={<MeaningOfTraded traded={traded} />}>
            {`${amountWithUnit(traded.base, market.base)}, ${amountWithUnit(traded.target, market.target)}`}
          </Figure>
        )}
      </dl>
    </details>
  );
}
