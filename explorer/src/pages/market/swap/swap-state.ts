import type { Market } from '../market.ts';

/** The values of the form, as they are in the URL. */
export type SwapState = {
  /** Whether the trader buys or sells the base token of the market. */
  readonly side: 'buy' | 'sell';
  /** Which of the two amounts the trader has fixed: what is paid, or what is received. */
  readonly exact: 'pay' | 'receive';
  /** That amount, as it was typed. */
  readonly amount: string;
  readonly slippagePercent: number;
  /** In V3: through how many pools the best route may lead, or this pool alone. */
  readonly path: SwapPath;
};

/** The slippage that the form offers, in percent. */
export const SLIPPAGES = [0.1, 0.5, 1, 3] as const;

const DEFAULT_SLIPPAGE = 0.5;

/** The routes that the form offers in V3: the best one with at most so many pools, or the pool of the page alone. */
export const SWAP_PATHS = ['5', '4', '3', '2', '1', 'pool'] as const;
export type SwapPath = (typeof SWAP_PATHS)[number];

/** As many as the gateway uses by itself. */
const DEFAULT_PATH: SwapPath = '3';

/** Longer texts are no amounts. */
const MAX_AMOUNT_LENGTH = 60;

/** Which of the two tokens of the pool is the base of the market. */
type Direction = Pick<Market, 'isInverse'>;

/**
 * Reads the form from a URL. What is missing or wrong has its default. The token that is paid is one of the pool: the market of a pool
 * can have the other direction, and its host can fail and come back.
 */
export function readSwapState(parameters: URLSearchParams, market: Direction): SwapState {
  const slippage = Number(parameters.get('slippage') ?? DEFAULT_SLIPPAGE);
  const receive = parameters.get('receive');
  const from = parameters.get('from');
  const isSelling = from === paidToken('sell', market);
  return {
    side: isSelling ? 'sell' : 'buy',
    exact: receive === null ? 'pay' : 'receive',
    amount: (receive ?? parameters.get('pay') ?? '').slice(0, MAX_AMOUNT_LENGTH),
    slippagePercent: SLIPPAGES.find((each) => each === slippage) ?? DEFAULT_SLIPPAGE,
    path: SWAP_PATHS.find((each) => each === parameters.get('route')) ?? DEFAULT_PATH,
  };
}

function paidToken(side: SwapState['side'], { isInverse }: Direction): 'token1' | 'token2' {
  return (side === 'sell') === isInverse ? 'token1' : 'token2';
}

/** Writes the form into a URL. Defaults are left out. */
export function writeSwapState(parameters: URLSearchParams, state: SwapState, market: Direction): URLSearchParams {
  const next = new URLSearchParams(parameters);
  for (const name of ['from', 'side', 'pay', 'receive', 'slippage', 'route']) next.delete(name);
  const hasAmount = state.amount !== '' || state.exact === 'receive';
  if (hasAmount || state.side !== 'buy') next.set('from', paidToken(state.side, market));
  if (hasAmount) next.set(state.exact, state.amount);
  if (state.slippagePercent !== DEFAULT_SLIPPAGE) next.set('slippage', String(state.slippagePercent));
  if (state.path !== DEFAULT_PATH) next.set('route', state.path);
  return next;
}

/** Whether two forms have the same values. */
export function isSameState(one: SwapState, other: SwapState): boolean {
  return (
    one.side === other.side &&
    one.exact === other.exact &&
    one.amount === other.amount &&
    one.slippagePercent === other.slippagePercent &&
    one.path === other.path
  );
}
