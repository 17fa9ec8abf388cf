import { MAX_INT32, MIN_INTERVAL_MS, readHeaders, readUrl } from './readers.ts';

/** Thrown if settings are wrong; lists all problems, a line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** What an option of the library is, for a setting; on the command line and in the environment it is a text. */
export type OptionKind = 'text' | 'texts' | 'list' | 'headers' | 'number' | 'boolean' | readonly string[];

/** One setting. Its variable is its option in upper case, with underscores. Its flag is its variable in lower case, with hyphens. */
export type Setting<Value = unknown> = {
  /** Its name in the configuration and as an option of the library, such as `headPollMs`. */
  readonly option: string;
  readonly variable: string;
  /** `texts`: one text or several. A list of words: one of these words. By default, `text`. */
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

type Names = Pick<Setting, 'option' | 'variable'>;
type Declaration = Omit<Setting, keyof Names | 'default'> & Partial<Pick<Setting, 'default'>>;

/** Declares settings by their options. Without a default, a setting is not set by default. */
export function declare<const Group extends Readonly<Record<string, Declaration>>>(group: Group) {
  const settings = Object.entries(group).map(([option, setting]) => {
    const variable = option.replace(/[A-Z]/g, '_$&').toUpperCase();
    return [option, { option, variable, default: '', ...setting }];
  });
  return Object.fromEntries(settings) as {
    readonly [Option in keyof Group]: Names & Pick<Setting, 'default'> & Group[Option];
  };
}

/** The flag of a setting, without its hyphens in front. */
export function flagOf({ variable }: Setting): string {
  return variable.toLowerCase().replaceAll('_', '-');
}

/** The description of a setting for the command line and the environment. */
export function descriptionOf({ meaning, ofText }: Setting): string {
  return ofText === undefined ? meaning : `${meaning} ${ofText}`;
}

/** A whole number in this range. */
export function whole(min: number, max = MAX_INT32) {
  function read(text: string): number {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < min || number > max)
      throw new Error(`expected a whole number from ${min} to ${max}`);
    return number;
  }
  return { kind: 'number', read } as const;
}

/** One of these words. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  function read(text: string): Word {
    const word = words.find((known) => known === text);
    if (word === undefined) throw new Error(`expected one of ${words.join(', ')}`);
    return word;
  }
  return { kind: words, read };
}

/** Reads `undefined` from an empty text. */
export function optional<Value>(read: (text: string) => Value) {
  return (text: string) => (text === '' ? undefined : read(text));
}

/** What a description adds for a list. */
export const COMMAS = 'Separated by commas.';

const HEADER_LINES = 'Written as `name: value` lines, separated by line breaks or `\\n`.';

/** True or false. */
export const BOOLEAN = {
  kind: 'boolean',
  read(text: string): boolean {
    if (text !== 'true' && text !== 'false') throw new Error('expected true or false');
    return text === 'true';
  },
} as const;
/** A port; 0 stands for a free one. */
export const PORT = whole(0, 65_535);
/** A duration in milliseconds. */
export const MILLISECONDS = whole(1);
/** An interval in milliseconds. */
export const INTERVAL = whole(MIN_INTERVAL_MS);
/** A limit that is off by default, and with 0. */
export const OPTIONAL_LIMIT = {
  kind: 'number',
  read: (text: string) => whole(0).read(text || '0') || undefined,
} as const;
/** HTTP headers. */
export const HEADERS = { kind: 'headers', ofText: HEADER_LINES, isSecret: true, read: readHeaders } as const;
/** A list of texts. */
export const LIST = { kind: 'list', ofText: COMMAS } as const;
/** One or several URLs, which may contain keys. */
export const URLS = { kind: 'texts', ofText: COMMAS, isSecret: true } as const;
/** A URL, which may contain a key, or none. */
export const OPTIONAL_URL = { isSecret: true, read: optional(readUrl) } as const;
