type Reviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown;

/** Parses JSON. Integers that a double cannot represent become bigint. @throws SyntaxError */
export function parseExactly(text: string): unknown {
  const exact: Reviver = (_key, value, { source = '' }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}

// TypeScript does not declare it yet.
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** Prints a value of {@link parseExactly} as JSON without white space. */
export function printExactly(value: unknown): string {
  const exact = (_key: string, each: unknown) => (typeof each === 'bigint' ? rawJSON(String(each)) : each);
  return JSON.stringify(value, exact) ?? 'null';
}

/** A copy of a document with another value at `path`. `'*'` matches every key or element; other keys may be new. */
export function replaceAt(document: unknown, path: readonly (string | number)[], value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(document)) {
    return document.map((item, i) => (step === '*' || step === i ? replaceAt(item, rest, value) : item));
  }

  const fields = new Map<string, unknown>(Object.entries(document ?? {}));
  for (const key of step === '*' ? [...fields.keys()] : [String(step)]) {
    fields.set(key, replaceAt(fields.get(key), rest, value));
  }
  return Object.fromEntries(fields);
}
