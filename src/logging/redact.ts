/**
 * Replaces secrets in a text by `[redacted]`. The end of a text that was cut off can be a part of a secret, which is not found: it is
 * left out.
 */
export type Redact = (text: string, options?: { readonly isCut?: boolean }) => string;

/** A text that must not leave the process. */
export type Secret = {
  readonly text: string;
  /** Whether it is a path segment that may be an ordinary word: it is replaced only after a slash. */
  readonly isWordOfPath?: boolean;
};

/** Minimum length of a secret that is replaced. Shorter texts are parts of too many words. */
export const MIN_SECRET_LENGTH = 3;

/** Minimum length of a secret that is also replaced inside words, and in upper and lower case. */
const LONG_SECRET_LENGTH = 8;

/** Number of characters that identify a very long secret. The rest may be cut off. */
const PREFIX_LENGTH = 40;

/** Maximum length of a part of a secret that is not found. A character can be written as nine, such as `%2525252f`. */
const MAX_PART_LENGTH = 9 * PREFIX_LENGTH;

const REPLACEMENT = '[redacted]';

/**
 * Creates a redactor. It finds each secret as it is, percent-encoded, escaped as in JSON or HTML, or in any mixture of these,
 * up to four levels deep. The longest secret is matched first, so that no part of it remains.
 */
export function createRedactor(secrets: readonly Secret[]): Redact {
  const patterns = secrets
    .filter(({ text }) => text.length >= MIN_SECRET_LENGTH)
    .sort((a, b) => b.text.length - a.text.length)
    .map(toPattern);
  if (patterns.length === 0) return (text) => text;

  const pattern = new RegExp([...new Set(patterns)].join('|'), 'g');
  return (text, { isCut = false } = {}) => {
    const redacted = text.replace(pattern, REPLACEMENT);
    if (!isCut) return redacted;
    const rest = redacted.split(REPLACEMENT).at(-1) ?? '';
    return redacted.slice(0, redacted.length - Math.min(rest.length, MAX_PART_LENGTH));
  };
}

/** Redacts each URL in the text of a setting. Only its scheme and host remain. */
export function redactUrls(text: string): string {
  return text
    .replace(
      /([a-z][a-z\d+.-]*:\/\/)((?:(?!,[a-z][a-z\d+.-]*:\/\/)[^\s"'<>])*)/gi,
      (_, scheme: string, rest: string) => {
        const [, host = '', path = ''] = /^([^/?#]*)(.*)$/s.exec(rest) ?? [];
        if (rest.includes('@')) return `${scheme}${REPLACEMENT}`;
        return scheme + host + (path === '' || path === '/' ? path : `/${REPLACEMENT}`);
      },
    )
    .replace(/[^\s"'<>/]+@/g, `${REPLACEMENT}@`);
}

/** Matches before a short secret: no letter or digit, unless it ends an escape. */
const BEFORE_WORD = '(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\\\[nrtbf])|(?<=\\\\u[0-9A-Fa-f]{4}))';
const AFTER_WORD = '(?![A-Za-z0-9])';
// The second slash of `https://` is excluded, because a host name follows it.
const BEHIND_SLASH = '(?<=(?<!:/)/|%2[Ff]|\\\\u002[Ff])';

function toPattern({ text, isWordOfPath = false }: Secret): string {
  if (isWordOfPath) return BEHIND_SLASH + anyForm(text, true) + AFTER_WORD;
  const isLong = text.length >= LONG_SECRET_LENGTH;
  // A short word without digits may also be an ordinary word in upper case, such as NODE.
  const isWord = /^[a-z]*$/i.test(text);
  if (!isLong) return BEFORE_WORD + anyForm(text, !isWord) + AFTER_WORD;
  return anyForm(text.slice(0, PREFIX_LENGTH), true) + tailOf(text.slice(PREFIX_LENGTH));
}

/** Matches what follows the prefix: any of the characters of the rest, in any encoding. */
function tailOf(rest: string): string {
  if (rest === '') return '';
  const isPlain = /^[\w.~-]*$/.test(rest);
  const characters = new Set(
    `${rest.toLowerCase()}${rest.toUpperCase()}${isPlain ? '' : '%\\&#;0123456789abcdefABCDEF'}`,
  );
  const oneOf = `[${[...characters].map(escapeInClass).join('')}]`;
  return isPlain ? `${oneOf}*` : `(?:${ESCAPE_IN_TAIL}|${oneOf})*`;
}

/** The letters of an escape of HTML or JSON, which the secret itself may not have. */
const ESCAPE_IN_TAIL = '&(?:amp;){0,2}(?:[a-z]{2,4};|#[xX]?)|\\\\{1,4}u';

function anyForm(text: string, ignoresCase: boolean): string {
  // A run of backslashes is one piece, because it is ambiguous which of them escapes which.
  return (text.match(/\\+|[^\\]/gu) ?? []).map((piece) => anyFormOf(piece, ignoresCase)).join('');
}

/** Matches one character in all its encodings. The levels of escaping are limited, so that matching stays fast. */
function anyFormOf(character: string, ignoresCase: boolean): string {
  if (character === '%') return '(?:%(?:25){0,4}|&#(?:0{0,4}37|[xX]0{0,4}25);|&percnt;)';
  if (character.startsWith('\\')) return `(?:\\\\|%(?:25){0,3}5[cC]|&#0{0,4}92;){1,${4 * character.length}}`;
  const percent = [...Buffer.from(character)].map((byte) => `%(?:25){0,3}${anyCaseOfHex(byte, 2)}`).join('');
  if (/[A-Za-z0-9]/.test(character)) {
    const literal = ignoresCase ? anyCase(character) : character;
    return `(?:${literal}|${percent})`;
  }
  const bytes = Buffer.from(character);
  // A host may decode UTF-8 as Latin-1, or the other way round.
  const misread = bytes.length === 1 ? '' : `|${bytes.toString('latin1')}|\ufffd{1,4}`;
  const code = character.codePointAt(0) ?? 0;
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  const json = units.map((unit) => `\\\\{1,4}u${anyCaseOfHex(unit, 4)}`).join('');
  const html = `&(?:amp;){0,2}(?:#(?:0{0,4}${code}|[xX]0{0,4}${anyCaseOfHex(code, 0)})${NAMED_ENTITIES[character] ?? ''});`;
  return `(?:${literalOf(character)}|${percent}|${json}|${html}${misread})`;
}

const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  '&': '|amp',
  '<': '|lt',
  '>': '|gt',
  '"': '|quot',
  "'": '|apos',
};

/** Matches a literal character, with the backslashes that JSON or a shell puts before it. */
function literalOf(character: string): string {
  switch (character) {
    case ' ':
    case '+':
      return '[ +]';
    case '"':
    case "'":
    case '/':
      return `\\\\{0,4}${character}`;
    default:
      return /[.*?^${}()|[\]]/.test(character) ? `\\${character}` : character;
  }
}

function anyCase(letter: string): string {
  const [lower, upper] = [letter.toLowerCase(), letter.toUpperCase()];
  return lower === upper ? letter : `[${lower}${upper}]`;
}

function anyCaseOfHex(code: number, digits: number): string {
  return [...code.toString(16).padStart(digits, '0')].map(anyCase).join('');
}

function escapeInClass(character: string): string {
  return /[\\\]^-]/.test(character) ? `\\${character}` : character;
}
