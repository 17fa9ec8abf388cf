import type { GatewayError } from '../client/errors.ts';

/** An error in plain words. */
type ErrorText = {
  readonly title: string;
  readonly text: string;
  /** Whether the page tries again by itself. */
  readonly retries: boolean;
};

/** How the page calls the upstreams. */
export const UPSTREAM_NAMES = { NODE: 'node', MARKET_DATA: 'market-data host' } as const;

/** What an upstream does that fails, by the code of the error. */
export const UPSTREAM_FAILURES: ReadonlyMap<string, string> = new Map([
  ['UPSTREAM_UNREACHABLE', 'cannot be reached'],
  ['UPSTREAM_TIMEOUT', 'does not respond in time'],
  ['UPSTREAM_BAD_STATUS', 'responds with an error status'],
  ['UPSTREAM_FILTERED', 'is behind a traffic filter that blocks the requests'],
  ['UPSTREAM_RPC_ERROR', 'responds with an error'],
  ['UPSTREAM_BAD_SHAPE', 'sends responses that do not match its documented interface'],
]);

/** Why the exchange refuses a trade, by `extensions.reason`. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['NO_LIQUIDITY', 'One side of a pool on the route is empty, so the pool refuses every trade.'],
  [
    'REAL_RESERVE_TOO_SMALL',
    'A pool on the route would have to give more than it really holds. A smaller amount may be accepted.',
  ],
  ['RESERVE_OUT_OF_RANGE', 'An amount would become larger than the exchange can count. Try a smaller one.'],
  [
    'ONE_SIDE_ZERO',
    'A step of the trade would move only one of the two tokens. This happens just above an amount that fills an order: a little less or a little more is accepted.',
  ],
  ['POOL_TWICE', 'The route leads through one pool twice.'],
  ['ROUTE_DOES_NOT_FIT', 'The pools of the route do not lead from the token that is paid to the one that is received.'],
  ['NO_SUCH_POOL', 'The exchange has no such pool at this height.'],
]);

/** What an error means for the person who looks at the page. */
export function explainError({ code, message, upstream, retryAfterMs, reason }: GatewayError): ErrorText {
  const name = upstream === undefined ? 'upstream' : UPSTREAM_NAMES[upstream];
  const later = { retries: true };
  switch (code) {
    case 'DISCONNECTED':
      return { title: 'The gateway cannot be reached', text: 'The page tries again by itself.', ...later };
    case 'REFUSED':
      return {
        title: 'This page is refused',
        text: 'A proxy in front of the gateway responds with status 403. The page tries again.',
        ...later,
      };
    case 'ORIGIN_NOT_ALLOWED':
      return { title: 'The gateway refuses this page', text: message, retries: false };
    case 'UPSTREAM_NOT_CONFIGURED':
      return {
        title: `No ${name} is configured`,
        text: `This gateway runs without a ${name}, so it cannot show this.`,
        retries: false,
      };
    case 'UPSTREAM_BUSY':
      return {
        title: `The gateway does not call the ${name} now`,
        text: 'Too many requests wait for it in the gateway, or it has responded with too many errors. The page tries again.',
        ...later,
      };
    case 'HISTORY_UNAVAILABLE':
      return {
        title: 'There is no price history',
        text: 'The gateway records none, or cannot read it now. Live prices are not affected.',
        ...later,
      };
    case 'RATE_LIMITED':
      return {
        title: 'Too many requests',
        text:
          retryAfterMs === undefined
            ? 'This address has too many open requests. Close other tabs of the explorer.'
            : 'The gateway limits the requests of an address. The page tries again by itself.',
        ...later,
      };
    case 'HEIGHT_NOT_AVAILABLE':
      return retryAfterMs === undefined
        ? { title: 'This height is not available', text: message, retries: false }
        : {
            title: 'The gateway is behind',
            text: 'It does not have the newest block that this page has shown. The page tries again.',
            ...later,
          };
    case 'AMBIGUOUS_TICKER':
      return { title: 'Several markets have this name', text: message, retries: false };
    case 'TRADE_REFUSED':
      return {
        title: 'The exchange would refuse this trade',
        text: (reason && REFUSALS.get(reason)) ?? message,
        retries: false,
      };
    case 'BAD_USER_INPUT':
      return { title: 'The input is not valid', text: message, retries: false };
    case 'QUERY_TOO_COMPLEX':
      return { title: 'The query is too large', text: message, retries: false };
    default: {
      const failure = UPSTREAM_FAILURES.get(code);
      return failure === undefined
        ? { title: 'The gateway could not respond', text: message, ...later }
        : { title: `The ${name} ${failure}`, text: 'The gateway keeps trying.', ...later };
    }
  }
}
