import { type ExchangeState, placeOfId } from '../domain/exchange.ts';
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
  const placeBefore = (place: number) =>
    directory === before.directory ? place : placeOfId(before.directory, directory.ids[place] ?? '');
  const same = orders.map((list, place) => sameOrders(known[placeBefore(place) ?? -1], list));
  return { ...state, v3: { ...v3, orders: same } };
}
