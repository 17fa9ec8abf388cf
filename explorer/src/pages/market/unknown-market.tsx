import { useMemo } from 'react';
import { Link } from 'react-router';
import { Page } from '../../app/page.tsx';
import type { GatewayError } from '../../client/errors.ts';
import { usePageQuery } from '../../client/hooks.ts';
import { nameOfToken, shortPoolId } from '../../format/prices.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { Panel } from '../../parts/panel.tsx';
import { PoolsOfSymbolDocument } from './choose-market.generated.ts';
import styles from './market-view.module.css';
import { poolPath } from './pool-id.ts';
import { termsOfPool } from './pool-terms.ts';
import { symbolsOfTicker } from './ticker-symbols.ts';

/** Shown for a ticker id that no market has. */
export function UnknownMarket({ name }: { readonly name: string }) {
  const [base] = symbolsOfTicker(name) ?? [];
  return (
    <Page title="Market not found">
      <Panel title="There is no such market">
        <EmptyState title={`No market is called ${name}`}>
          <p>
            <span>The market-data host does not list it.</span> {base !== undefined && <SearchLink text={base} />}{' '}
            <Link to="/">See all markets</Link>
          </p>
        </EmptyState>
      </Panel>
    </Page>
  );
}

function SearchLink({ text }: { readonly text: string }) {
  return (
    <>
      <Link to={`/?${new URLSearchParams({ search: text })}`}>{`Search for ${text}`}</Link>
      <span>, or</span>
    </>
  );
}

/** Shown for a pool id that no pool has. */
export function UnknownPool() {
  return (
    <Page title="Pool not found">
      <Panel title="There is no such pool">
        <EmptyState title="No pool has this id">
          <p>
            <span>
              A pool id is the ids of its two tokens, and in V3 a hash behind them. The link may be cut off, or the pool
              is gone.
            </span>{' '}
            <Link to="/">See all markets</Link>
          </p>
        </EmptyState>
      </Panel>
    </Page>
  );
}

type UnreadableMarketProps = {
  readonly name: string;
  readonly tickerId: string | null;
  readonly errors: readonly GatewayError[];
  readonly retry: () => void;
};

/** Shown while the upstream that knows the market cannot be read. The pools of its tokens may be there. */
export function UnreadableMarket({ name, tickerId, errors, retry }: UnreadableMarketProps) {
  return (
    <Page title={name}>
      <Panel title="Market">
        <ErrorState errors={errors} retry={retry} />
        {tickerId !== null && <PoolsInstead tickerId={tickerId} />}
      </Panel>
    </Page>
  );
}

/** The most pools of a token that are looked through. */
const POOLS = 100;

/** The pools of the two symbols of a ticker id: the node knows them without the market-data host. */
function PoolsInstead({ tickerId }: { readonly tickerId: string }) {
  const symbols = symbolsOfTicker(tickerId);
  // Most pools of V1 contain PRV. Those of the other token fit in one page.
  const symbol = symbols?.find((each) => each !== 'PRV') ?? '';
  const answer = usePageQuery(
    PoolsOfSymbolDocument,
    useMemo(() => ({ symbol, size: POOLS }), [symbol]),
    { pause: symbol === '' },
  );
  const pools = answer.data?.poolPairs?.nodes.filter(({ token1, token2 }) =>
    [token1, token2].every(({ symbol }) => symbol !== null && symbols?.includes(symbol)),
  );
  if (pools === undefined || pools.length === 0) return null;
  return (
    <EmptyState title="The pool can be shown without it">
      {pools.map(({ id, token1, token2, poolId, ...terms }) => (
        <p key={id} className={styles.id}>
          <Link to={poolPath(token1.tokenId, token2.tokenId, poolId)} title={poolId ?? undefined}>
            {`Pool ${nameOfToken(token2)}/${nameOfToken(token1)}${poolId === null ? '' : ` ${shortPoolId(poolId)}, ${termsOfPool(terms)}`}`}
          </Link>
        </p>
      ))}
    </EmptyState>
  );
}
