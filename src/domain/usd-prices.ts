import type { ExchangeState } from './exchange.ts';
import type { PoolGraph } from './pool-graph.ts';
import { isNonEmpty, type PoolPair } from './pool-pair.ts';
import { otherSide, reserveAt, toHalves } from './route-bounds.ts';
import type { Token, TokenId } from './token.ts';

/** US dollars for the smallest unit of each token of a state; `undefined` if no route leads from it to a stable coin. */
export type UsdPrices = (tokenId: TokenId) => number | undefined;

/**
 * Computes what the tokens of a state are worth. A whole stable coin is one US dollar by definition. Each pool has the price of
 * a token in US dollars if its other token has one. The depth of a route to a stable coin is the smallest value that a pool on
 * it has on its side towards the stable coin.
 *
 * Tokens get their prices in the order of their deepest routes, the deepest first. A price is the average over the pools with
 * tokens that have a price already, weighted by depth: the dollars at the end of these routes, divided by the amount of the
 * token that they buy. So a pool moves the price by at most its share of these dollars and of that amount, whatever its own
 * price is. Of equally deep tokens, the one that comes first in the graph is first.
 *
 * Two tokens can have several pools. Pools with an empty side take no part.
 */
export function usdPrices(state: ExchangeState, graph: PoolGraph, stableCoins: readonly Token[]): UsdPrices {
  const { placesOf, tokensAt } = graph;
  const reserves = toHalves(state.reserves);
  const prices = new Float64Array(placesOf.length);
  const [depths, dollars, amounts] = [prices.slice(), prices.slice(), prices.slice()];
  const queue = createQueue();

  function add(token: number, depth: number): void {
    if (depth <= (depths[token] ?? 0)) return;
    depths[token] = depth;
    queue.add({ token, depth });
  }

  const defined = new Map(
    stableCoins.flatMap(({ tokenId, decimals }) =>
      decimals === undefined ? [] : [[tokenId, Number(`1e-${decimals}`)]],
    ),
  );
  for (const [tokenId, price] of defined) {
    const token = graph.find(tokenId);
    if (token === undefined) continue;
    prices[token] = price;
    add(token, Number.POSITIVE_INFINITY);
  }
  const isDone = new Uint8Array(placesOf.length);

  for (let token = queue.next(); token !== undefined; token = queue.next()) {
    if (isDone[token]) continue;
    isDone[token] = 1;
    // A stable coin has its price already.
    prices[token] ||= (dollars[token] ?? 0) / (amounts[token] ?? 0);
    for (const place of placesOf[token] ?? []) {
      const side = otherSide(tokensAt, place, token);
      const other = tokensAt[place * 2 + side] ?? 0;
      if (prices[other] !== 0) continue;
      const amount = reserveAt(reserves, place * 2 + side);
      const value = reserveAt(reserves, place * 2 + 1 - side) * (prices[token] ?? 0);
      if (amount === 0 || !(value > 0)) continue;
      if (placesOf[other]?.length === 1) {
        // No other pool counts, and no token has its price from this one.
        prices[other] = value / amount;
        continue;
      }
      const depth = Math.min(value, depths[token] ?? 0);
      dollars[other] = (dollars[other] ?? 0) + depth;
      amounts[other] = (amounts[other] ?? 0) + amount * (depth / value);
      add(other, depth);
    }
  }

  return (tokenId) => {
    const token = graph.find(tokenId);
    return defined.get(tokenId) ?? ((token !== undefined && prices[token]) || undefined);
  };
}

/** US dollars for one whole token; `undefined` while its decimals are unknown, or without a price. */
export function usdPrice(prices: UsdPrices, tokenId: TokenId, decimals: number | undefined): number | undefined {
  const price = prices(tokenId);
  return price === undefined || decimals === undefined ? undefined : ifFinite(price * Number(`1e${decimals}`));
}

/** US dollars of both reserves of a pool together; 0 if one is empty, and `undefined` if a token has no price. */
export function liquidityUsd(prices: UsdPrices, pool: PoolPair): number | undefined {
  if (!isNonEmpty(pool)) return 0;
  const [price1, price2] = [prices(pool.token1Id), prices(pool.token2Id)];
  if (price1 === undefined || price2 === undefined) return undefined;
  return ifFinite(Number(pool.reserve1) * price1 + Number(pool.reserve2) * price2);
}

function ifFinite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined;
}

type Reached = { readonly token: number; readonly depth: number };

/** Creates a binary heap. The deepest token is next; of equally deep ones, that with the smallest number. */
function createQueue() {
  const heap: Reached[] = [];
  const isBefore = (a: Reached, b: Reached) => a.depth > b.depth || (a.depth === b.depth && a.token < b.token);

  return {
    add(reached: Reached): void {
      let index = heap.push(reached) - 1;
      while (index > 0) {
        const parentIndex = (index - 1) >> 1;
        const parent = heap[parentIndex];
        if (parent === undefined || isBefore(parent, reached)) break;
        heap[index] = parent;
        index = parentIndex;
      }
      heap[index] = reached;
    },
    next(): number | undefined {
      const [first] = heap;
      const last = heap.pop();
      if (last === undefined || last === first) return first?.token;
      let index = 0;
      for (;;) {
        const [left, right] = [heap[index * 2 + 1], heap[index * 2 + 2]];
        const isRight = left !== undefined && right !== undefined && isBefore(right, left);
        const child = isRight ? right : left;
        if (child === undefined || isBefore(last, child)) break;
        heap[index] = child;
        index = index * 2 + (isRight ? 2 : 1);
      }
      heap[index] = last;
      return first?.token;
    },
  };
}
