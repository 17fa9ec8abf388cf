import { useDeferredValue, useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { Page } from '../../app/page.tsx';
import { DASH_IN_USD, useUnit } from '../../app/unit.ts';
import { currentParameters, FROM_FIRST_ROW, withParameter } from '../../app/url-parameters.ts';
import { useGatewayQuery } from '../../client/hooks.ts';
import { formatInteger } from '../../format/numbers.ts';
import { Answered } from '../../parts/answered.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Freshness } from '../../parts/freshness.tsx';
import { Panel } from '../../parts/panel.tsx';
import { focusSearchField, SearchField } from '../../parts/search-field.tsx';
import { SkeletonRows } from '../../parts/skeleton.tsx';
import { SortSelect } from '../../parts/sort-select.tsx';
import { useSorting } from '../../parts/sorting.ts';
import tableStyles from '../../parts/table.module.css';
import { listTokens, TOKEN_SORTS, type TokenSort } from './token-list.ts';
import { TokenTable } from './token-table.tsx';
import { type TokenRowFragment, TokensDocument } from './tokens.generated.ts';

const NO_VARIABLES = {};

const COLUMNS: readonly { readonly sort: TokenSort; readonly label: string }[] = [
  { sort: 'name', label: 'Token' },
  { sort: 'price', label: 'Price' },
  { sort: 'pools', label: 'Pools' },
  { sort: 'decimals', label: 'Decimals' },
];

/** All tokens: their price in the native coin or in US dollars, their pools, and their ids. The URL has the search and the order. */
export function TokensPage() {
  const answer = useGatewayQuery(TokensDocument, NO_VARIABLES, { refresh: 'each-height' });
  const unit = useUnit();

  return (
    <Page
      title="Tokens"
      description={
        unit === 'USD'
          ? `Prices are in US dollars, from the pools that lead to stable coins, weighted by their depth. ${DASH_IN_USD}`
          : 'Prices are in PRV, the native coin, from the pool of the token and PRV'
      }
      actions={<SearchField label="Search tokens" placeholder="Symbol or token id" />}
    >
      <Panel title="Tokens" query={answer.query} freshness={<Freshness height={answer.height} />} isFlush>
        <Answered
          answer={answer}
          pick={({ tokens }) => tokens}
          at={['tokens']}
          skeleton={<SkeletonRows rows={20} />}
          empty={<EmptyState title="No token is known yet" />}
        >
          {(tokens) => <Tokens tokens={tokens} />}
        </Answered>
      </Panel>
    </Page>
  );
}

function Tokens({ tokens }: { readonly tokens: readonly TokenRowFragment[] }) {
  const [parameters, setParameters] = useSearchParams();
  const search = useDeferredValue(parameters.get('search') ?? '');
  const { sort, direction, sortBy } = useSorting(TOKEN_SORTS, 'pools');
  const unit = useUnit();
  const listed = useMemo(
    () => listTokens(tokens, { search, sort, direction, unit }),
    [tokens, search, sort, direction, unit],
  );

  function clearSearch(): void {
    setParameters(withParameter(currentParameters(), 'search', ''), FROM_FIRST_ROW);
    focusSearchField();
  }

  return (
    <>
      <div className={tableStyles['bar']}>
        <p role="status">
          {search === ''
            ? `${formatInteger(tokens.length)} tokens`
            : `${formatInteger(listed.length)} of ${formatInteger(tokens.length)} tokens`}
        </p>
        <SortSelect columns={COLUMNS} sort={sort} direction={direction} onSort={sortBy} />
      </div>
      {listed.length === 0 ? (
        <EmptyState title="No token matches">
          <p>Search for a part of a symbol, or the beginning of a token id.</p>
          <Button onClick={clearSearch}>Clear the search</Button>
        </EmptyState>
      ) : (
        <TokenTable tokens={listed} sort={sort} direction={direction} onSort={sortBy} />
      )}
    </>
  );
}
