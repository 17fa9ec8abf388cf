import { useEffect, useSyncExternalStore } from 'react';
import { useGateway } from '../../client/gateway.tsx';
import type { Session } from '../../client/session.ts';
import { useIsVisible } from '../../client/visibility.ts';
import { createMarketList, type MarketList, type MarketListState } from './market-list.ts';

/** The list of a session, so that it is there at once when the reader comes back to the page. */
const lists = new WeakMap<Session, MarketList>();

/** All markets and pools, kept fresh while somebody looks at them. `withChange` also reads what all of them cost a day ago. */
export function useMarketList(withChange: boolean): MarketListState & Pick<MarketList, 'retry'> {
  const { session, connection } = useGateway();
  let list = lists.get(session);
  if (list === undefined) {
    list = createMarketList({ client: session.listClient, onRestored: connection.onRestored });
    lists.set(session, list);
  }
  const { state, follow, retry } = list;

  const isVisible = useIsVisible();
  useEffect(() => (isVisible ? follow(withChange) : undefined), [follow, isVisible, withChange]);
  return { ...useSyncExternalStore(state.subscribe, state.get), retry };
}
