import { placeOfId } from '../domain/exchange.ts';
import type { Pair } from '../domain/market.ts';
import { andThen, type MaybePromise } from '../domain/maybe-promise.ts';
import { poolPairId } from '../domain/pool-pair.ts';
import type { TokenId, TokenList } from '../domain/token.ts';
import { averagePrice } from '../domain/trade.ts';
import { BadUserInputError } from '../errors.ts';
import type { RecordedTrade, TradeName } from '../history/trade-store.ts';
import type { Head } from '../live/chain/head.ts';
import type { SentArguments } from './arguments.ts';
import { readPoolId } from './exchange.ts';
import { createResumableStream, type HeightUpdate, type ResumeArguments } from './head-streams.ts';
import { readTradesOf } from './known-trades.ts';
import type { Loaders } from './loaders.ts';
import { poolPrice, withPoolOf } from './pool-price.ts';
import type { TradeOfBlock } from './pool-trades.ts';
import type { SourceStream } from './source-stream.ts';
import type { LoaderInputs } from './sources.ts';

/** The trades of one block, as one subscriber gets them. */
export type TradesUpdate = HeightUpdate & {
  /** The pools whose trades are selected; `undefined` for all. */
  readonly poolIds: ReadonlySet<string> | undefined;
};

type TradesArguments = ResumeArguments & SentArguments<{ poolIds: readonly string[] }>;

/**
 * The blocks whose trades a subscriber gets: one update for each height. A subscriber that is slow gets the heights that are still
 * remembered one after another, and skips older ones.
 *
 * @throws BadUserInputError for an empty list and for a text that is no pool id, HeightNotAvailableError for an `afterHeight` far in the
 *   future
 */
export async function createTradeStream(
  { poolIds, ...resume }: TradesArguments,
  inputs: LoaderInputs,
): Promise<SourceStream<Head, TradesUpdate>> {
  if (poolIds?.length === 0)
    throw new BadUserInputError('poolIds is empty. List at least one pool, or omit the argument.');
  const selected = poolIds == null ? undefined : new Set(poolIds.map((id) => poolPairId(readPoolId(id))));
  const toUpdate = (update: HeightUpdate) => ({ ...update, poolIds: selected });
  return createResumableStream(resume, inputs, toUpdate, inputs.sources.head.recent);
}

/**
 * The trade with a name, of a head that is remembered or from the history, with its pool at the height of the response. `undefined` if
 * its block does not have it.
 *
 * @throws HeightNotAvailableError if the trades of an earlier block are not known, HistoryUnavailableError, UpstreamError
 */
export async function findTrade(name: TradeName, loaders: Loaders): Promise<TradeOfBlock | undefined> {
  const { sources, dependencies, exchange } = loaders;
  const newest = await loaders.head.get();
  const blockNow = () => sources.head.recent().find(({ beaconHeight }) => beaconHeight === name.beaconHeight);
  const head = name.beaconHeight === newest.beaconHeight ? newest : blockNow();
  dependencies.dependOn(blockNow, head);
  if (name.beaconHeight > newest.beaconHeight) return undefined;
  const isNamed = ({ transactionId, step }: RecordedTrade) =>
    transactionId === name.transactionId && step === name.step;
  const trade = head
    ? (await readTradesOf(head, loaders)).find(isNamed)
    : await loaders.history.recordedTrade(name, newest.beaconHeight);
  const pool = trade && (await exchange.pool(trade.poolId));
  return pool && { trade, pool };
}

/** The trades of an update, in the order of the block. @throws UpstreamError if the block, or one of its trades, cannot be read */
export async function tradesOf(
  { head, poolIds }: Pick<TradesUpdate, 'head' | 'poolIds'>,
  inputs: LoaderInputs,
): Promise<readonly TradeOfBlock[]> {
  const trades = await readTradesOf(head, inputs);
  const { at } = inputs.sources.pools.of(head.exchange);
  return trades.flatMap((trade) => {
    const isSelected = poolIds?.has(trade.poolId) ?? true;
    const place = isSelected ? placeOfId(head.exchange.directory, trade.poolId) : undefined;
    return place === undefined ? [] : [{ trade, pool: at(place) }];
  });
}

/**
 * The average price of the newest known trade through the pool of a pair, in target tokens per base token.
 *
 * @returns `undefined` if there is no such pool or no trade, or if the decimals of a token are unknown
 * @throws HistoryUnavailableError, UpstreamError
 */
export function tradedPriceOf(
  pair: Pair,
  { exchange, tokens, history }: Pick<Loaders, 'exchange' | 'tokens' | 'history'>,
): MaybePromise<number | undefined> {
  return withPoolOf(pair, exchange, (pool) =>
    andThen(history.lastTrade(pool), (trade) => trade && priceOfTrade({ trade, pool }, pair.baseId, tokens.list)),
  );
}

/** The average price of one token in the other one over a trade; `undefined` if the decimals of a token are unknown. */
export function priceOfTrade({ trade, pool }: TradeOfBlock, baseId: TokenId, tokens: TokenList): number | undefined {
  const base = baseId === pool.token1Id ? 1 : 2;
  return poolPrice((_pool, d1, d2) => averagePrice(trade, d1, d2, base), pool, {}, tokens);
}
