import type { Context } from '../../graphql/context.ts';
import type { ErrorSummary } from '../operations/error-summary.ts';

/** What an answer rests on, and so for how long it stays true. */
export type Basis = Context['loaders']['dependencies'];

/**
 * The bytes of an answer; a short one as a text with a character for each byte (Latin-1), which Node sends in one piece with
 * the headers. Its length is in bytes either way.
 */
export type ResponseBody = Buffer | string;

/** Beyond this, joining a body to its headers takes longer than sending two pieces. */
const MAX_TEXT_BYTES = 8_192;

/** The bytes of a text. */
export function toResponseBody(text: string): ResponseBody {
  // Most are ASCII: such a text has a character for each byte already.
  if (text.length <= MAX_TEXT_BYTES && Buffer.byteLength(text) === text.length) return text;
  const bytes = Buffer.from(text);
  return bytes.length > MAX_TEXT_BYTES ? bytes : bytes.toString('latin1');
}

/** A finished answer, as it goes over the wire in either media type. */
export type EncodedResponse = {
  readonly status: number;
  /** What its errors add to the headers, such as when to ask again: names and values in turn. */
  readonly headers: readonly string[];
  readonly body: ResponseBody;
  /** What it took of its client's points. */
  readonly points: number;
  /** What it rests on; `undefined` for one with errors, which is never given twice. */
  readonly dependencies: Basis | undefined;
  /** What the access log says of its errors. */
  readonly errors?: ErrorSummary | undefined;
};
