import { type ExchangeState, placeOf } from '../domain/exchange.ts';
import { sameOrders } from '../domain/pool-order.ts';

/**
 * A state with the lists of orders of an earlier state wherever they are equal. A pool with another list counts as changed, so
 * this is called with each state that came from Redis, or was read after other replicas had read the ones before it.
 */
export function withOrdersOf(state: ExchangeState, before: ExchangeState | undefined): ExchangeState {
  const { directory, v3 } = state;
  const orders = v3?.orders;
  const known = before?.v3?.orders;
  if (v3 === undefined || orders === undefined || before === undefined || known === undefined) return state;
  const placeBefore = (place: number) => {
    if (directory === before.directory) return place;
    const [token1Id, token2Id, poolId] = [directory.token1Ids[place], directory.token2Ids[place], directory.ids[place]];
    return placeOf(before.directory, {
      token1Id: token1Id ?? '',
      token2Id: token2Id ?? '',
      v3: { poolId: poolId ?? '' },
    });
  };
  const same = orders.map((list, place) => sameOrders(known[placeBefore(place) ?? -1], list));
  return { ...state, v3: { ...v3, orders: same } };
}
