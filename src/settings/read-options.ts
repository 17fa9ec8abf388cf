import type { OptionKind } from './kinds.ts';
import { toConfig } from './read-config.ts';
import { type Config, SETTINGS } from './settings.ts';
import { nearestOf } from './unknown-variables.ts';

/**
 * Reads all settings from options of the library, with the same checks as on the command line. No environment variable is read.
 *
 * @throws ConfigError with all problems of all options
 */
export function readOptions(options: object): Config {
  const values = new Map(Object.entries(options));
  const names = Object.keys(SETTINGS);
  const unknown = [...values.keys()].filter((name) => !names.includes(name)).map((name) => unknownOption(name, names));

  return toConfig(unknown, {
    read(setting) {
      const { option: name } = setting;
      const value = values.get(name);
      if (value === undefined) return { name, text: setting.optionDefault ?? setting.default };
      const { kind = 'text' } = setting;
      const { expected, toText } = typeof kind === 'string' ? TYPES[kind] : TYPES.text;
      const text = toText(value);
      return text === undefined ? { name, text: '', expected } : { name, text };
    },
    nameOf: ({ option }) => option,
    sandboxHint: 'sandbox: true',
    misspelt: () => [],
  });
}

/** What is wrong with an option that does not exist, with the name that was probably meant. */
export function unknownOption(name: string, names: readonly string[]): string {
  const meant = nearestOf(name, names);
  return `${name} is not an option${meant === undefined ? '' : `: did you mean ${meant}?`}`;
}

/** The type of an option. */
type OptionType = {
  readonly expected: string;
  /** The text of a value as on the command line; `undefined` if it has another type. */
  toText(value: unknown): string | undefined;
};

const TYPES: Readonly<Record<Extract<OptionKind, string>, OptionType>> = {
  text: { expected: 'a string', toText },
  texts: { expected: 'a string or an array of strings', toText: (value) => toText(value) ?? toCommas(value) },
  list: { expected: 'an array of strings', toText: toCommas },
  headers: {
    expected: 'an object of header names and values, which are strings without line breaks',
    toText: toHeaderLines,
  },
  number: { expected: 'a number', toText: (value) => (typeof value === 'number' ? String(value) : undefined) },
  boolean: { expected: 'true or false', toText: (value) => (typeof value === 'boolean' ? String(value) : undefined) },
};

function toText(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}

function toCommas(value: unknown): string | undefined {
  return Array.isArray(value) && value.every(isText) ? value.join(',') : undefined;
}

/** Header values with a line break would be several headers. */
function toHeaderLines(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const headers = Object.entries(value);
  const isValid = headers.every(([, text]) => isText(text) && !/[\r\n]|\\n/.test(text));
  return isValid ? headers.map(([name, text]) => `${name}: ${text}`).join('\n') : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
