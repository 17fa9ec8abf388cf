import { FINAL_AFTER } from '../../../client/head-tracker.ts';
import type { Amount } from '../../../format/amounts.ts';
import type { Market } from '../market.ts';
import type { LiveTradesSubscription, TradeFieldsFragment, TradesQuery } from './trades.generated.ts';

/** A trade of the gateway. */
export type Trade = TradeFieldsFragment;

/** The trades of one block, as the subscription sends them. */
type Block = LiveTradesSubscription['trades'];

/** A page of trades, newest first. */
type TradesPage = NonNullable<NonNullable<TradesQuery['pool']>['trades']>;

/** What queries have answered: the newest trades of a pool without a gap, newest first. */
export type AnsweredTrades = {
  /** The height of the newest answer. */
  readonly height: number;
  readonly trades: readonly Trade[];
  /** The cursor of the last trade; null if no older one is known. */
  readonly endCursor: string | null;
};

/** The blocks that the subscription has sent, newest first. */
export type PushedBlocks = {
  /** No block is missing from this height on. */
  readonly from: number;
  readonly blocks: readonly Block[];
};

/** At most so many trades are listed, and so many pushed blocks are kept. */
export const MOST_TRADES = 500;
const MOST_BLOCKS = 100;

/** Takes the newest page. Trades below it stay if there is no gap between them and the page. */
export function withNewestPage(
  answered: AnsweredTrades | undefined,
  { nodes, pageInfo }: TradesPage,
  height: number,
): AnsweredTrades {
  const lowest = nodes.at(-1)?.id;
  const place = lowest === undefined ? -1 : (answered?.trades.findIndex(({ id }) => id === lowest) ?? -1);
  const below = place === -1 ? [] : (answered?.trades.slice(place + 1) ?? []);
  return {
    height,
    trades: [...nodes, ...below].slice(0, MOST_TRADES),
    endCursor: answered !== undefined && below.length > 0 ? answered.endCursor : cursorOf(pageInfo),
  };
}

/** Takes the page of older trades after `endCursor`. */
export function withOlderPage(answered: AnsweredTrades, { nodes, pageInfo }: TradesPage): AnsweredTrades {
  const trades = [...answered.trades, ...nodes].slice(0, MOST_TRADES);
  return { ...answered, trades, endCursor: cursorOf(pageInfo) };
}

function cursorOf({ hasNextPage, endCursor }: TradesPage['pageInfo']): string | null {
  return hasNextPage ? endCursor : null;
}

/** Takes a pushed block. It replaces one of the same height, with its trades. */
export function withBlock(pushed: PushedBlocks | undefined, block: Block): PushedBlocks {
  const { beaconHeight } = block;
  const newest = pushed?.blocks[0]?.beaconHeight;
  const blocks = (pushed?.blocks ?? []).filter(
    (other) =>
      other.beaconHeight !== beaconHeight &&
      (other.trades.length > 0 || other.beaconHeight > beaconHeight - FINAL_AFTER),
  );
  return {
    from: pushed === undefined || newest === undefined || beaconHeight > newest + 1 ? beaconHeight : pushed.from,
    blocks: [block, ...blocks].sort((a, b) => b.beaconHeight - a.beaconHeight).slice(0, MOST_BLOCKS),
  };
}

/**
 * The trades that are listed, newest first: those of the answers, and above them those of pushed blocks. A block that was not final
 * when the answer was made counts as it was pushed, because it can have been replaced since.
 */
export function listTrades(answered: AnsweredTrades | undefined, pushed: PushedBlocks | undefined): readonly Trade[] {
  const finalHeight = answered === undefined ? Number.NEGATIVE_INFINITY : answered.height - FINAL_AFTER;
  const blocks = (pushed?.blocks ?? []).filter(({ beaconHeight }) => beaconHeight > finalHeight);
  const heights = new Set(blocks.map(({ beaconHeight }) => beaconHeight));
  return [
    ...blocks.flatMap(({ trades }) => trades.toReversed()),
    ...(answered?.trades ?? []).filter(({ beaconHeight }) => !heights.has(beaconHeight)),
  ]
    .sort((a, b) => b.beaconHeight - a.beaconHeight)
    .slice(0, MOST_TRADES);
}

/**
 * Whether the newest page has to be requested again: pushed blocks do not continue the answer, or trades that are listed have become
 * final since, and some of them can be of blocks that were replaced together with a later one.
 */
export function isAnswerOld(answered: AnsweredTrades, pushed: PushedBlocks | undefined): boolean {
  const newest = pushed?.blocks[0]?.beaconHeight;
  if (pushed === undefined || newest === undefined) return false;
  if (pushed.from > answered.height + 1) return true;
  if (newest < answered.height + FINAL_AFTER) return false;
  const [newestTrade] = listTrades(answered, pushed);
  return newestTrade !== undefined && newestTrade.beaconHeight > answered.height - FINAL_AFTER;
}

/** A trade in the direction of the market, whose amounts are in smallest units. */
type ShownTrade = {
  readonly isBuy: boolean;
  /** Target tokens per base token, the average over the trade; null if decimals are not known. */
  readonly price: number | null;
  readonly base: Amount;
  readonly target: Amount;
};

/** Whoever pays target tokens buys. */
export function shownTrade(
  { sellToken, sellAmount, buyAmount, price }: Trade,
  { target, isInverse }: Pick<Market, 'target' | 'isInverse'>,
): ShownTrade {
  const isBuy = sellToken.tokenId === target.tokenId;
  return {
    isBuy,
    price: price === null || !isInverse ? price : 1 / price,
    base: isBuy ? buyAmount : sellAmount,
    target: isBuy ? sellAmount : buyAmount,
  };
}
