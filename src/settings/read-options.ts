import { toConfig } from './read-config.ts';
import { type Config, type OptionKind, optionDefaultOf, optionOf, SETTINGS, type Setting } from './settings.ts';
import { nearestOf } from './unknown-variables.ts';

/**
 * Reads all settings from options of the library, with the same checks as on the command line. No environment variable is read.
 *
 * @throws ConfigError with all problems of all options
 */
export function readOptions(options: object): Config {
  const values = new Map(Object.entries(options));
  const names = Object.values<Setting>(SETTINGS).map(optionOf);
  const problems = [...values.keys()].filter((name) => !names.includes(name)).map((name) => unknownOption(name, names));

  return toConfig(problems, {
    read(setting) {
      const name = optionOf(setting);
      const value = values.get(name);
      const text = value === undefined ? optionDefaultOf(setting) : toText(value, setting.kind);
      const expected = text === undefined ? EXPECTED[wordOf(setting.kind)] : undefined;
      return { name, text: text ?? setting.default, expected };
    },
    nameOf: optionOf,
    sandboxHint: 'sandbox: true',
    misspelt: () => [],
  });
}

/** What is wrong with an option that does not exist, with the name that was probably meant. */
export function unknownOption(name: string, names: readonly string[]): string {
  const meant = names.find((known) => known.toLowerCase() === name.toLowerCase()) ?? nearestOf(name, names);
  return `${name} is not an option${meant === undefined ? '' : `: did you mean ${meant}?`}`;
}

/** The text of an option as on the command line; `undefined` if it has another type than the option. */
function toText(value: unknown, kind: OptionKind = 'text'): string | undefined {
  if (typeof value === 'number') return kind === 'number' ? String(value) : undefined;
  if (typeof value === 'boolean') return kind === 'boolean' ? String(value) : undefined;
  if (typeof value === 'string') return isOneOf(wordOf(kind), ['text', 'texts', 'word']) ? value : undefined;
  if (Array.isArray(value))
    return isOneOf(kind, ['texts', 'list']) && value.every(isText) ? value.join(',') : undefined;
  return kind === 'headers' ? toHeaderLines(value) : undefined;
}

/** Header values with a line break would be several headers. */
function toHeaderLines(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const headers = Object.entries(value);
  const isValid = headers.every(([, text]) => isText(text) && !/[\r\n]|\\n/.test(text));
  return isValid ? headers.map(([name, text]) => `${name}: ${text}`).join('\n') : undefined;
}

type KindName = Extract<OptionKind, string> | 'word';

const EXPECTED: Readonly<Record<KindName, string>> = {
  text: 'a string',
  texts: 'a string or an array of strings',
  list: 'an array of strings',
  headers: 'an object of header names and values, which are strings without line breaks',
  number: 'a number',
  boolean: 'true or false',
  word: 'a string',
};

function wordOf(kind: OptionKind = 'text'): KindName {
  return typeof kind === 'string' ? kind : 'word';
}

function isOneOf(kind: unknown, kinds: readonly KindName[]): boolean {
  return kinds.some((each) => each === kind);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
