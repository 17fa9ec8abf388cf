import { type DepthLadder, depthLadder, type LadderSteps, wholeReserves } from '../domain/depth-ladder.ts';
import type { Pair } from '../domain/market.ts';
import { tokenPrice } from '../domain/price.ts';
import { BadUserInputError } from '../errors.ts';
import { requireBetween, type SentArguments } from './arguments.ts';
import type { Loaders } from './loaders.ts';
import { withPoolOf } from './pool-price.ts';

type DepthArguments = SentArguments<{ percents: readonly number[] }>;

type LadderArguments = SentArguments<LadderSteps>;

/** The percentages if the argument is not set. */
export const DEFAULT_PERCENTS = [0.5, 1, 2, 5, 10];

/** The steps of a ladder whose arguments are not set. */
export const DEFAULT_STEPS: LadderSteps = { levels: 20, stepPercent: 0.25 };

const MAX_PERCENTS = 100;
const MAX_LEVELS = 200;

/** The percentages that the arguments mean. @throws BadUserInputError */
export function readPercents({ percents }: DepthArguments): readonly number[] {
  const wanted = percents ?? DEFAULT_PERCENTS;
  if (wanted.length > MAX_PERCENTS)
    throw new BadUserInputError(`percents has ${wanted.length} entries. The maximum is ${MAX_PERCENTS}.`);
  const wrong = wanted.find((percent) => !(percent > 0 && percent < 100));
  if (wrong !== undefined) throw new BadUserInputError(`percents contains ${wrong}. It must be above 0 and below 100.`);
  return wanted;
}

/**
 * The ladder of a pair's pool and an order book: the host's book of the pair for a pool of V1, and the pool's own orders, which the
 * host's book shows too, for one of V3. The book is only read if there is a pool.
 *
 * @returns `undefined` without a pool or a book, for a pool that refuses every trade, or while decimals are unknown
 * @throws BadUserInputError, UpstreamError
 */
export async function ladderOf(
  pair: Pair,
  args: LadderArguments,
  { exchange, tokens, orderBooks, poolOrders }: Pick<Loaders, 'exchange' | 'tokens' | 'orderBooks' | 'poolOrders'>,
): Promise<DepthLadder | undefined> {
  const steps = readSteps(args);
  const pool = await withPoolOf(pair, exchange, (each) => each);
  const reserves = pool && tokenPrice(wholeReserves, pool, pair.baseId, tokens.list);
  if (pool === undefined || reserves === undefined) return undefined;

  const base = pool.token1Id === pair.baseId ? 1 : 2;
  const book = await (pool.v3 ? poolOrders.completeBook(pool, base) : orderBooks.complete(pair.tickerId));
  await orderBooks.takeTurn();
  return book && depthLadder(reserves, book, steps);
}

/** The steps that the arguments mean. @throws BadUserInputError */
export function readSteps(args: LadderArguments): LadderSteps {
  const levels = args.levels ?? DEFAULT_STEPS.levels;
  const stepPercent = args.stepPercent ?? DEFAULT_STEPS.stepPercent;
  requireBetween(1, MAX_LEVELS, 'levels', levels);
  if (!(stepPercent > 0)) throw new BadUserInputError(`stepPercent is ${stepPercent}. It must be above 0.`);
  if (!(levels * stepPercent < 100)) {
    throw new BadUserInputError(
      `levels * stepPercent is ${levels * stepPercent}. It must be below 100, so that all prices are above 0.`,
    );
  }
  return { levels, stepPercent };
}
