/**
 * A value that Go prints: a plain object is a struct, whose fields keep their order; a Map is a map, whose keys are sorted;
 * a bigint is an integer, which is printed exactly.
 */
export type GoValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly GoValue[]
  | ReadonlyMap<string, GoValue>
  | { readonly [field: string]: GoValue };

/** Prints a value like Go's `MarshalIndent` with tabs, at a depth of indentation. */
export function printGo(value: GoValue, depth = 0): string {
  if (typeof value === 'string') return quoteGo(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value))
    return block(
      '[',
      value.map((item: GoValue) => printGo(item, depth + 1)),
      ']',
      depth,
    );

  const fields = value instanceof Map ? [...value].sort(byKey) : Object.entries(value);
  const lines = fields.map(([key, field]: [string, GoValue]) => `${quoteGo(key)}: ${printGo(field, depth + 1)}`);
  return block('{', lines, '}', depth);
}

/** Quotes a text like Go, which escapes characters that could end a script element. */
export function quoteGo(text: string): string {
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** A JSON value as Go decodes it into an empty interface: objects become maps. */
export function toGo(json: unknown): GoValue {
  if (Array.isArray(json)) return json.map(toGo);
  if (typeof json === 'object' && json !== null) {
    return new Map(Object.entries(json).map(([key, value]) => [key, toGo(value)]));
  }
  return typeof json === 'string' || typeof json === 'number' || typeof json === 'boolean' ? json : null;
}

/** Prints a float64 like Go's `%v`: below 1e-4 and from a million on with an exponent of at least two digits. */
export function printGoFloat(value: number): string {
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (value === 0 || (power >= -4 && power < 6)) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

function block(open: string, lines: readonly string[], close: string, depth: number): string {
  if (lines.length === 0) return open + close;
  const indent = '\t'.repeat(depth + 1);
  return `${open}\n${indent}${lines.join(`,\n${indent}`)}\n${'\t'.repeat(depth)}${close}`;
}

function byKey([one]: readonly [string, GoValue], [other]: readonly [string, GoValue]): number {
  return one < other ? -1 : 1;
}
