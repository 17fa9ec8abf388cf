import { Page } from '../../app/page.tsx';
import { useCanSortByChange, useHasHistory, useLastingKeys } from '../../app/service-status.ts';
import { useUnit } from '../../app/unit.ts';
import { SearchField } from '../../parts/search-field.tsx';
import { MarketsPanel } from './markets-panel.tsx';
import { useMarketList } from './use-market-list.ts';
import { useViewParameters } from './view-parameters.ts';

/** All markets and pools, with live prices. The URL has the list, the search and the order. */
export function MarketsPage() {
  const hasHistory = useHasHistory();
  const usualList = useLastingKeys().includes('MARKET_DATA') ? 'pools' : 'markets';
  const view = useViewParameters(usualList, useCanSortByChange());
  const unit = useUnit();
  const list = useMarketList(view.sort === 'change' && hasHistory === true);

  return (
    <Page
      title="Markets"
      description={
        unit === 'USD'
          ? `US dollars follow from the pools with stable coins. The 24 h change is that of the price in the second token`
          : 'Prices come from the pools, in units of the second token per unit of the first'
      }
      actions={<SearchField label="Search markets" placeholder="Symbol, ticker or token id" />}
    >
      <MarketsPanel list={list} view={view} hasHistory={hasHistory} unit={unit} />
    </Page>
  );
}
