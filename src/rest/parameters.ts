import { BadUserInputError } from '../errors.ts';
import type { OrderBookRequest } from './order-books.ts';

/** More entries than any book has. */
const MAX_DEPTH_DIGITS = 9;

/**
 * Reads the parameters of `/orderbook`. Parameters with other names are ignored, as listing sites add their own.
 *
 * @throws BadUserInputError that names the parameter
 */
export function readOrderBookParameters(parameters: URLSearchParams): OrderBookRequest {
  const tickerId = readOnce(parameters, 'ticker_id');
  if (!tickerId) throw new BadUserInputError('ticker_id is missing. Choose one of /tickers.');
  const [depth, uncrossed] = [readOnce(parameters, 'depth'), readOnce(parameters, 'uncrossed')];
  return { tickerId, depth: readDepth(depth), isUncrossed: readFlag('uncrossed', uncrossed) };
}

/** Without the parameter, the book is complete: another gateway that reads from this one then has all of it. */
function readDepth(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d+$/.test(text) && text.length <= MAX_DEPTH_DIGITS) return Number(text);
  throw new BadUserInputError(
    `depth is ${JSON.stringify(text)}. It must be 0 (the complete book) or a whole number of entries, both sides together.`,
  );
}

function readFlag(name: string, text = 'false'): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new BadUserInputError(`${name} is ${JSON.stringify(text)}. It must be true or false.`);
}

function readOnce(parameters: URLSearchParams, name: string): string | undefined {
  const [text, ...others] = parameters.getAll(name);
  if (others.length > 0) throw new BadUserInputError(`${name} is set more than once.`);
  return text;
}
