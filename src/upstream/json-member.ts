import { parseJson } from './json.ts';

/** The key of a member, and the offset of its value. */
const KEY = /^[\t\n\r ]*("[^"\\]*(?:\\.[^"\\]*)*")[\t\n\r ]*:/s;

/**
 * Parses `"key": value`. With the key in an object, V8 would store each key as a property name, outside of the young generation:
 * with ten thousand pools a height, that would be most of the garbage.
 *
 * @throws SyntaxError
 */
export function parseMember(text: string): { key: string; value: unknown } {
  const [start, key] = KEY.exec(text) ?? [];
  if (start === undefined || key === undefined) throw new SyntaxError('a member without a key');
  return { key: JSON.parse(key), value: parseJson(text.slice(start.length)) };
}
