import { type ErrorDetails, type Upstream, UpstreamBadShapeError } from '../errors.ts';
import { parseJson } from './json.ts';
import { Misfit } from './wire.ts';

/**
 * Parses an answer without loss and reads it.
 *
 * @param details what the log is told beside the misfit: where the answer came from
 * @throws UpstreamBadShapeError for what is not JSON, and for a misfit, whose path it names
 */
export function decode<T>(
  upstream: Upstream,
  text: string,
  read: (document: unknown) => T,
  details: ErrorDetails = {},
): T {
  try {
    return read(parseJson(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw notJson(upstream, text, error, details);
    if (error instanceof Misfit) throw new UpstreamBadShapeError(upstream, error.message, details);
    throw error;
  }
}

function notJson(upstream: Upstream, text: string, cause: SyntaxError, details: ErrorDetails): UpstreamBadShapeError {
  const says = { ...details, length: text.length, body: text.slice(0, 200) };
  return new UpstreamBadShapeError(upstream, 'it is not JSON', says, cause);
}
