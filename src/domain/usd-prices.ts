import TinyQueue from 'tinyqueue';
import type { ExchangeState } from './exchange.ts';
import { otherSide, type PoolGraph, toDoubles } from './pool-graph.ts';
import { isTradable, type PoolPair, poolValues } from './pool-pair.ts';
import { powerOf10 } from './price.ts';
import type { Token, TokenId } from './token.ts';

/** What the smallest unit of a token is worth, and how many dollars its routes lead to: infinite for a stable coin. */
type UsdValue = { readonly price: number; readonly dollars: number };

/** What the tokens of a state are worth, in US dollars; `undefined` if no route leads from a token to a stable coin. */
export type UsdPrices = (tokenId: TokenId) => UsdValue | undefined;

/** A pool that seems to be worth more than this many times the dollars behind its tokens has no known value. */
const MAX_TIMES_DOLLARS = 100;

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
  const reserves = toDoubles(state.reserves);
  const values = state.v3 === undefined ? reserves : toDoubles(state.v3.values);
  const prices = new Float64Array(placesOf.length);
  const [depths, dollars, amounts] = [prices.slice(), prices.slice(), prices.slice()];
  const queue = new TinyQueue<Reached>([], (a, b) => (a.depth === b.depth ? a.token - b.token : b.depth - a.depth));

  function add(token: number, depth: number): void {
    if (depth <= (depths[token] ?? 0)) return;
    depths[token] = depth;
    queue.push({ token, depth });
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
    dollars[token] = Number.POSITIVE_INFINITY;
    add(token, Number.POSITIVE_INFINITY);
  }
  const isDone = new Uint8Array(placesOf.length);

  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const { token } = next;
    if (isDone[token]) continue;
    isDone[token] = 1;
    // A stable coin has its price already.
    prices[token] ||= (dollars[token] ?? 0) / (amounts[token] ?? 0);
    for (const place of placesOf[token] ?? []) {
      const side = otherSide(tokensAt, place, token);
      const other = tokensAt[place * 2 + side] ?? 0;
      if (prices[other] !== 0) continue;
      const amount = reserves[place * 2 + side] ?? 0;
      const value = (reserves[place * 2 + 1 - side] ?? 0) * (prices[token] ?? 0);
      const heldValue = (values[place * 2 + 1 - side] ?? 0) * (prices[token] ?? 0);
      if (amount === 0 || values[place * 2 + side] === 0 || !(heldValue > 0)) continue;
      const depth = Math.min(heldValue, depths[token] ?? 0);
      dollars[other] = (dollars[other] ?? 0) + depth;
      amounts[other] = (amounts[other] ?? 0) + amount * (depth / value);
      // It is in no other pool: no token has its price from it.
      if (placesOf[other]?.length === 1) prices[other] = value / amount;
      else add(other, depth);
    }
  }

  return (tokenId) => {
    const token = graph.find(tokenId) ?? -1;
    const price = defined.get(tokenId) ?? (prices[token] || undefined);
    return price === undefined ? undefined : { price, dollars: dollars[token] ?? Number.POSITIVE_INFINITY };
  };
}

/** US dollars for one whole token; `undefined` while its decimals are unknown, or without a price. */
export function usdPrice(prices: UsdPrices, tokenId: TokenId, decimals: number | undefined): number | undefined {
  const value = prices(tokenId);
  if (value === undefined || decimals === undefined) return undefined;
  return value.dollars === Number.POSITIVE_INFINITY ? 1 : ifFinite(value.price * powerOf10(decimals));
}

/**
 * US dollars of all that a pool holds; 0 if one side is empty. `undefined` if a token has no price, or if there are too few
 * dollars behind both: anybody can pair large amounts of two tokens that are priced by a pool with one dollar. The dollars
 * behind a token count at most as much as what the pool holds of it is worth: an amplified pool can hold almost nothing of a stable coin.
 */
export function liquidityUsd(prices: UsdPrices, pool: PoolPair): number | undefined {
  if (!isTradable(pool)) return 0;
  const { value1: held1, value2: held2 } = poolValues(pool);
  const [value1, value2] = [prices(pool.token1Id), prices(pool.token2Id)];
  if (value1 === undefined || value2 === undefined) return undefined;
  const [worth1, worth2] = [Number(held1) * value1.price, Number(held2) * value2.price];
  const dollars = Math.max(Math.min(worth1, value1.dollars), Math.min(worth2, value2.dollars));
  return worth1 + worth2 > MAX_TIMES_DOLLARS * dollars ? undefined : ifFinite(worth1 + worth2);
}

function ifFinite(number: number): number | undefined {
  return Number.isFinite(number) ? number : undefined;
}

type Reached = { readonly token: number; readonly depth: number };
