import type { ChainMarket } from '../chain/markets.ts';
import type { Orders } from '../chain/order-book.ts';
import type { Figures } from '../chain/tickers.ts';
import { marketSymbol } from '../chain/tokens.ts';

/** The response of `pairs`. */
export function pairsResponse(markets: readonly ChainMarket[]) {
  const pairs = markets.map(({ tickerId, base, target, poolId }) => ({
    ticker_id: tickerId,
    base_id: base.id,
    base: marketSymbol(base),
    target_id: target.id,
    target: marketSymbol(target),
    pool_id: poolId,
  }));
  return { pairs, message: 'OK' };
}

/** The response of `tickers`, with the figures of each market. */
export function tickersResponse(markets: readonly ChainMarket[], figures: readonly Figures[]) {
  const tickers = markets.map((market, i) => ({
    ticker_id: market.tickerId,
    base_id: market.base.id,
    base_currency: marketSymbol(market.base),
    target_id: market.target.id,
    target_currency: marketSymbol(market.target),
    pool_id: market.poolId,
    ...figuresShown(market, figures[i]),
  }));
  return { tickers, message: 'OK' };
}

/** The response of `orderbook`. Some hosts send `null` sides for an unknown ticker. */
export function orderBookResponse(tickerId: string, timestamp: number, orders: Orders | { bids: null; asks: null }) {
  return { bids: orders.bids, asks: orders.asks, message: 'OK', ticker_id: tickerId, timestamp };
}

function figuresShown({ oddity }: ChainMarket, figures: Figures | undefined) {
  if (oddity === 'absent figures' || !figures) return {};
  if (oddity === 'null figures') return { last_price: null, base_volume: null, target_volume: null };
  return {
    last_price: figures.lastPrice,
    base_volume: figures.baseVolume,
    target_volume: oddity === 'no target volume' ? 0 : figures.targetVolume,
  };
}
