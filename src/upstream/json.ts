import { createByteBuffer } from './byte-buffer.ts';
import type { ResponseReader } from './response-body.ts';

/**
 * Integers that a double may not hold: 17 digits and more, or 16 that begin with 9 (2^53 is 9007199254740992). A match inside
 * a string costs time and changes nothing.
 */
const MAY_EXCEED_DOUBLE = /(?:^|[[:,\s])-?(?:9\d{15}|\d{17,})(?:[\s,\]}]|$)/;

const INTEGER = /^-?\d+$/;

/**
 * Parses JSON without loss: integers beyond 2^53 become `bigint`, all other values are as `JSON.parse` returns them.
 *
 * A reviver sees the source text of each number but makes parsing several times slower, so it is used only if there may be
 * such an integer.
 *
 * @throws SyntaxError for a text that is not JSON
 */
export function parseJson(text: string): unknown {
  return MAY_EXCEED_DOUBLE.test(text) ? JSON.parse(text, toExactInteger) : JSON.parse(text);
}

function toExactInteger(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;

  const source = context?.source ?? '';
  return INTEGER.test(source) ? BigInt(source) : value;
}

/** A number whose text is not the shortest text of its double, such as `1.50` or 20 digits. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** As a string, because `JSON.stringify` would round the number. */
  toJSON(): string {
    return this.text;
  }
}

/**
 * {@link parseJson}, with the numbers in arrays as they were written: a number whose text is not the shortest text of its double
 * becomes a {@link NumberText}. So do the numbers of some members of objects.
 *
 * Most documents have no such number. Then writing the document again gives the same text, which is several times faster
 * than a reviver.
 *
 * @param members the names of these members
 * @throws SyntaxError for a text that is not JSON
 */
export function parseJsonWithTexts(text: string, members: readonly string[] = []): unknown {
  function toNumberText(this: unknown, key: string, value: unknown, context?: { source?: string }): unknown {
    if (typeof value !== 'number') return value;
    if (!Array.isArray(this) && !members.includes(key)) return toExactInteger(key, value, context);
    const source = context?.source ?? '';
    return source === String(value) ? value : new NumberText(source);
  }

  const document: unknown = JSON.parse(text);
  const rewritten = JSON.stringify(document);
  return rewritten === text || rewritten === text.replace(/\s+/g, '') ? document : JSON.parse(text, toNumberText);
}

/** The object or array in a JSON text; `undefined` for any other text. */
export function parseObject(text: string): object | undefined {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null ? document : undefined;
  } catch {
    return undefined;
  }
}

/** Creates the reader of a small document, which is collected and parsed as a whole. */
export function createDocumentReader<T>(
  maxBytes: number,
  read: (document: unknown) => T,
  parse: (text: string) => unknown = parseJson,
): ResponseReader<T> {
  const bytes = createByteBuffer(maxBytes);
  return {
    write: (chunk) => bytes.append(chunk, 0, chunk.length),
    end: () => read(parse(bytes.text())),
  };
}
