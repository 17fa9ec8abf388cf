import type { BeaconHeight } from '../domain/beacon-height.ts';
import { MAX_HOPS } from '../domain/best-route.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import { bestQuote, type Quote, type QuoteRequest } from '../domain/quote.ts';
import type { TokenId } from '../domain/token.ts';
import { BadUserInputError } from '../errors.ts';
import { createTurnQueue } from '../live/broadcast/turn-limit.ts';
import type { Head } from '../live/chain/head.ts';
import { requireBetween } from './argument-ranges.ts';
import type { ExchangeLoader, PoolsOfState } from './exchange.ts';

/** The arguments of a quote. */
export type QuoteArguments = {
  readonly sellTokenId: TokenId;
  readonly buyTokenId: TokenId;
  /** Exactly one of the two amounts is set. */
  readonly sellAmount?: bigint | null | undefined;
  readonly buyAmount?: bigint | null | undefined;
  readonly maxHops?: number | null | undefined;
  readonly at?: BeaconHeight | null | undefined;
};

type SlippageArguments = { readonly slippagePercent?: number | null | undefined };

/** Maximum number of pools of a route if the argument is not set. */
export const DEFAULT_MAX_HOPS = 3;

/** Percent of slippage if the argument is not set. */
export const DEFAULT_SLIPPAGE_PERCENT = 0.5;

/** The quotes of one answer. */
export class QuoteLoader {
  readonly #exchange: ExchangeLoader;
  readonly #turns = createTurnQueue();

  constructor(exchange: ExchangeLoader) {
    this.#exchange = exchange;
  }

  /**
   * The best quote at the height of the answer, or at an earlier one; `undefined` if there is none.
   *
   * @throws BadUserInputError, HeightNotAvailableError, UpstreamError
   */
  find(args: QuoteArguments): MaybePromise<Quote | undefined> {
    const request = readQuoteArguments(args);
    const pools = this.#exchange.allPools(args.at);
    return pools instanceof Promise ? this.#inTurn(pools, request) : quoteIn(pools, request);
  }

  /** The same for an update of a subscription. @throws the error that the update has in place of a head */
  findForUpdate(head: Head | Error, args: QuoteArguments): MaybePromise<Quote | undefined> {
    if (head instanceof Error) throw head;
    return this.find(args);
  }

  /** Quotes that wait for the same state get it in the same turn of the event loop, and are computed one in each turn. */
  async #inTurn(awaited: Promise<PoolsOfState>, request: QuoteRequest): Promise<Quote | undefined> {
    const pools = await awaited;
    await this.#turns.wait();
    return quoteIn(pools, request);
  }
}

function quoteIn({ exchange, graph, at }: PoolsOfState, request: QuoteRequest): Quote | undefined {
  return bestQuote(exchange, graph(), request, at);
}

/** The trade that arguments mean. @throws BadUserInputError */
export function readQuoteArguments(args: QuoteArguments): QuoteRequest {
  const { sellTokenId, buyTokenId, sellAmount, buyAmount } = args;
  if (sellTokenId === buyTokenId) throw new BadUserInputError('sellTokenId and buyTokenId are the same token.');

  const maxHops = args.maxHops ?? DEFAULT_MAX_HOPS;
  requireBetween(1, MAX_HOPS, 'maxHops', maxHops);
  const route = { sellTokenId, buyTokenId, maxHops };
  if (sellAmount != null && buyAmount != null) throw new BadUserInputError('Set sellAmount or buyAmount, not both.');
  if (sellAmount != null) return { ...route, sellAmount: aboveZero('sellAmount', sellAmount) };
  if (buyAmount != null) return { ...route, buyAmount: aboveZero('buyAmount', buyAmount) };
  throw new BadUserInputError('Set sellAmount or buyAmount.');
}

function aboveZero(name: string, amount: bigint): bigint {
  if (amount > 0n) return amount;
  throw new BadUserInputError(`${name} is ${amount}. It must be greater than 0.`);
}

/** The slippage that an argument means, in percent. @throws BadUserInputError */
export function readSlippagePercent({ slippagePercent }: SlippageArguments): number {
  const percent = slippagePercent ?? DEFAULT_SLIPPAGE_PERCENT;
  requireBetween(0, 100, 'slippagePercent', percent);
  return percent;
}
