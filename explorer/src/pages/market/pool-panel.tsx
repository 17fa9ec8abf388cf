import { useMemo } from 'react';
import { Link } from 'react-router';
import { usePageQuery } from '../../client/hooks.ts';
import { nameOfToken, shortPoolId } from '../../format/prices.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Freshness } from '../../parts/freshness.tsx';
import { Panel } from '../../parts/panel.tsx';
import figureStyles from './figures.module.css';
import { Figure } from './figures-panel.tsx';
import { PoolsOfTokensDocument } from './market.generated.ts';
import { amountWithUnit, type Market, reservesOf, virtualAmountsOf } from './market.ts';
import { poolPath } from './pool-id.ts';
import styles from './pool-panel.module.css';
import { amplificationOf, formatFeeRate, termsOfPool, textOfPools } from './pool-terms.ts';

/** The most pools of a token that are looked through. */
const POOLS = 100;

type PoolPanelProps = { readonly market: Market; readonly pool: NonNullable<Market['pool']>; readonly poolId: string };

/** What distinguishes a pool of V3: its fee, its amplification, what it holds and what it counts with, and others of its tokens. */
export function PoolPanel({ market, pool, poolId }: PoolPanelProps) {
  const { token1, token2 } = pool;
  const others = usePageQuery(
    PoolsOfTokensDocument,
    useMemo(() => ({ tokenId: token2.tokenId, size: POOLS }), [token2.tokenId]),
  );
  const amplification = amplificationOf(pool);
  const [real, virtual] = [reservesOf(market), virtualAmountsOf(market)];
  const amounts = (of: typeof real) =>
    of && `${amountWithUnit(of.base, market.base)}, ${amountWithUnit(of.target, market.target)}`;
  const all = others.data?.poolPairs?.nodes.filter(
    (other) => other.token1.tokenId === token1.tokenId && other.token2.tokenId === token2.tokenId,
  );

  const siblings = all === undefined || all.length < 2 ? [] : all;

  return (
    <Panel title="Pool" query={others.query} freshness={<Freshness height={pool.beaconHeight} />}>
      <div className={styles.content}>
        {!pool.isTradable && (
          <p className={styles.notice} role="note">
            {pool.price === null
              ? 'This pool is empty: its liquidity was withdrawn, and it refuses every trade.'
              : 'This pool refuses every trade, because one of its sides is empty. It still has a price: prices are computed with the virtual amounts.'}
          </p>
        )}
        <dl className={`${figureStyles.list} ${styles.list}`}>
          <Figure name="Version">V3</Figure>
          <Figure name="Pool id" title={poolId}>
            <span>{shortPoolId(poolId)}</span> <CopyButton text={poolId} what="id of the pool" />
          </Figure>
          <Figure name="Trading fee" title="Of the amount that is sold, on top of it">
            {pool.feeRateBps === null ? 'not known' : formatFeeRate(pool.feeRateBps)}
          </Figure>
          <Figure name="Amplification">{amplification ?? 'none'}</Figure>
          <Figure name="Really in the pool" isWide>
            {amounts(real)}
          </Figure>
          <Figure name="Virtual amounts" isWide>
            {amounts(virtual)}
          </Figure>
        </dl>
        <p className={styles.text}>
          {amplification === null
            ? 'Prices and swaps are computed with the virtual amounts. Without amplification, these are what the pool really holds.'
            : 'Prices and swaps are computed with the virtual amounts, as if the pool held more, so a trade moves the price less. But the pool can pay out only what it really holds.'}
        </p>
        <p className={styles.others}>
          <span>{textOf(all?.length)}</span>
          {siblings.map((other) => (
            <Link
              key={other.id}
              to={poolPath(token1.tokenId, token2.tokenId, other.poolId)}
              aria-current={other.poolId === poolId ? 'page' : undefined}
              title={other.poolId ?? undefined}
            >
              {`${shortPoolId(other.poolId ?? '')} (${termsOfPool(other)})`}
            </Link>
          ))}
        </p>
      </div>
    </Panel>
  );

  function textOf(count: number | undefined): string {
    const names = `${nameOfToken(market.base)} and ${nameOfToken(market.target)}`;
    if (count === undefined)
      return others.isLoading ? `Pools of ${names}…` : `Other pools of ${names} are not known now.`;
    return textOfPools(names, count, others.data?.poolPairs?.pageInfo.hasNextPage === true);
  }
}
