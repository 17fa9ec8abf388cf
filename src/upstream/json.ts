/**
 * Integers that a double may not hold: 17 digits and more, or 16 that begin with 9 (2^53 is 9007199254740992). Inside a
 * text it can match in vain, which costs time and changes nothing.
 */
const MAY_EXCEED_DOUBLE = /(?:^|[[:,\s])-?(?:9\d{15}|\d{17,})(?:[\s,\]}]|$)/;

const INTEGER = /^-?\d+$/;

/**
 * Parses JSON without loss: integers beyond 2^53 become `bigint`, all other numbers are as `JSON.parse` gives them.
 *
 * A reviver sees each number's source text but makes parsing several times slower, so it is used only where such an
 * integer may be there at all.
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
