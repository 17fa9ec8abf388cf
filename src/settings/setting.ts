import {
  MAX_INT32,
  MIN_INTERVAL_MS,
  readBoolean,
  readHeaders,
  readOneOf,
  readOptionalLimit,
  readUrl,
  readWhole,
} from './readers.ts';

/** What an option of the library is, for a setting; on the command line and in the environment it is a text. */
export type OptionKind = 'text' | 'texts' | 'list' | 'headers' | 'number' | 'boolean' | readonly string[];

/** One setting. Its flag is its variable in lower case, with hyphens. Its option is its variable in camel case. */
export type Setting<Value = unknown> = {
  readonly variable: string;
  /** `texts` is one text or several, and words are one of them. `text` if it is not set. */
  readonly kind?: OptionKind;
  /** The text of the default. An empty text means that the setting is not set. */
  readonly default: string;
  /** The text of the default of the option, where it is another one. */
  readonly optionDefault?: string;
  /** The description in `--help`, the documents, `.env.example` and the options of the library. */
  readonly meaning: string;
  /** What the description adds for flags and variables. */
  readonly ofText?: string;
  /** Whether it is a variable of Node, which is read only with `NODE_USE_ENV_PROXY`, and first in lower case. */
  readonly isOfNode?: true;
  /** Whether a wrong variable is ignored with a warning, as OpenTelemetry specifies it. A wrong flag is an error. */
  readonly isIgnoredIfWrong?: true;
  /** Whether the text may contain a password or a key, so that it is never printed. */
  readonly isSecret?: true;
  /** Reads a text. @throws Error that says what was expected */
  readonly read: (text: string) => Value;
};

type Declarations = Readonly<Record<string, Omit<Setting, 'variable'> & { readonly variable?: string }>>;

/** Declares settings. The variable of one is its key, `HEAD_POLL_MS` of `headPollMs`, unless the declaration has another. */
export function declare<const Group extends Declarations>(group: Group) {
  const settings = Object.entries(group).map(([key, setting]) => [key, { variable: variableOf(key), ...setting }]);
  return Object.fromEntries(settings) as { readonly [Key in keyof Group]: { readonly variable: string } & Group[Key] };
}

function variableOf(key: string): string {
  return key.replace(/[A-Z]/g, '_$&').toUpperCase();
}

/** The flag of a setting, without its hyphens in front. */
export function flagOf({ variable }: Setting): string {
  return variable.toLowerCase().replaceAll('_', '-');
}

/** The name of a setting as an option of the library. */
export function optionOf({ variable }: Setting): string {
  return variable.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The description of a setting for the command line and the environment. */
export function descriptionOf({ meaning, ofText }: Setting): string {
  return ofText === undefined ? meaning : `${meaning} ${ofText}`;
}

/** A whole number in this range. */
export function whole(min: number, max = MAX_INT32) {
  return { kind: 'number', read: (text: string) => readWhole(text, min, max) } as const;
}

/** One of these words. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  return { kind: words, read: (text: string) => readOneOf(text, words) };
}

/** Reads `undefined` from an empty text. */
export function optional<Value>(read: (text: string) => Value) {
  return (text: string) => (text === '' ? undefined : read(text));
}

/** What a description adds for a list. */
export const COMMAS = 'Separated by commas.';

const HEADER_LINES = 'Written as `name: value` lines, separated by line breaks or `\\n`.';

/** True or false. */
export const BOOLEAN = { kind: 'boolean', read: readBoolean } as const;
/** A port; 0 stands for a free one. */
export const PORT = whole(0, 65_535);
/** A duration in milliseconds. */
export const MILLISECONDS = whole(1);
/** An interval in milliseconds. */
export const INTERVAL = whole(MIN_INTERVAL_MS);
/** A limit that is off by default, and with 0. */
export const OPTIONAL_LIMIT = { kind: 'number', default: '', read: readOptionalLimit } as const;
/** HTTP headers. */
export const HEADERS = {
  kind: 'headers',
  default: '',
  ofText: HEADER_LINES,
  isSecret: true,
  read: readHeaders,
} as const;
/** A list of texts. */
export const LIST = { kind: 'list', default: '', ofText: COMMAS } as const;
/** One or several URLs, which may contain keys. */
export const URLS = { kind: 'texts', default: '', ofText: COMMAS, isSecret: true } as const;
/** A URL, which may contain a key, or none. */
export const OPTIONAL_URL = { default: '', isSecret: true, read: optional(readUrl) } as const;
