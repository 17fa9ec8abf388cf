import { type Upstream, UpstreamBadShapeError } from '../errors.ts';
import { parseJson } from './json.ts';
import { Misfit } from './wire.ts';

/**
 * Parses an answer without loss and reads it.
 *
 * @throws UpstreamBadShapeError for what is not JSON, and for a misfit, whose path it names
 */
export function decode<T>(upstream: Upstream, text: string, read: (document: unknown) => T): T {
  try {
    return read(parseJson(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw notJson(upstream, text, error);
    if (error instanceof Misfit) throw new UpstreamBadShapeError(upstream, error.message);
    throw error;
  }
}

function notJson(upstream: Upstream, text: string, cause: SyntaxError): UpstreamBadShapeError {
  return new UpstreamBadShapeError(
    upstream,
    'it is not JSON',
    { length: text.length, body: text.slice(0, 200) },
    cause,
  );
}
