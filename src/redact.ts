/** Replaces secrets in a text by `[redacted]`. */
export type Redact = (text: string) => string;

/** A text that must not leave the process. */
export type Secret = {
  readonly text: string;
  /** Whether it is a path segment that may be an ordinary word: such is replaced behind a slash only. */
  readonly isWordOfPath?: boolean;
};

/** Shorter ones are a part of too many words; the caller joins them with what stands beside them. */
export const MIN_SECRET_LENGTH = 3;

/** From this length on, a secret is replaced inside of words too, and in upper and lower case. */
const LONG_SECRET_LENGTH = 8;

/** So much of a very long secret decides; what follows may be cut off. */
const DECISIVE_LENGTH = 40;

const REPLACEMENT = '[redacted]';

/**
 * Creates a redactor. It finds each secret as it is, percent-encoded, escaped as in JSON or HTML, or any mixture of these,
 * up to four times over. The longest secret comes first, so that no part of it remains.
 */
export function createRedactor(secrets: readonly Secret[]): Redact {
  const patterns = [...secrets]
    .filter(({ text }) => text.length >= MIN_SECRET_LENGTH)
    .sort((a, b) => b.text.length - a.text.length)
    .map(toPattern);
  if (patterns.length === 0) return (text) => text;

  const pattern = new RegExp([...new Set(patterns)].join('|'), 'g');
  return (text) => text.replace(pattern, REPLACEMENT);
}

/** In a text that was typed as a setting: leaves of each URL its scheme and host, whatever it is the URL of. */
export function redactUrls(text: string): string {
  return text
    .replace(/([a-z][a-z\d+.-]*:\/\/)([^\s"'<>]*)/gi, (_, scheme: string, rest: string) => {
      const [, host = '', path = ''] = /^([^/?#]*)(.*)$/s.exec(rest) ?? [];
      if (rest.includes('@')) return `${scheme}${REPLACEMENT}`;
      return scheme + host + (path === '' || path === '/' ? path : `/${REPLACEMENT}`);
    })
    .replace(/[^\s"'<>/]+@/g, `${REPLACEMENT}@`);
}

/** What may stand before a short secret: no letter or digit, unless it ends an escape. */
const BEFORE_WORD = '(?:(?<![A-Za-z0-9])|(?<=%[0-9A-Fa-f]{2})|(?<=\\\\[nrtbf])|(?<=\\\\u[0-9A-Fa-f]{4}))';
const AFTER_WORD = '(?![A-Za-z0-9])';
const BEHIND_SLASH = '(?<=/|%2[Ff]|\\\\u002[Ff])';

function toPattern({ text, isWordOfPath = false }: Secret): string {
  if (isWordOfPath) return BEHIND_SLASH + anyForm(text, true) + AFTER_WORD;
  const isLong = text.length >= LONG_SECRET_LENGTH;
  // A short word without digits is one that texts may have in upper case, such as NODE.
  const isWord = /^[a-z]*$/i.test(text);
  if (!isLong) return BEFORE_WORD + anyForm(text, !isWord) + AFTER_WORD;
  return anyForm(text.slice(0, DECISIVE_LENGTH), true) + tailOf(text.slice(DECISIVE_LENGTH));
}

/** What follows the decisive part: any of the characters of the rest, however they are encoded. */
function tailOf(rest: string): string {
  if (rest === '') return '';
  const isPlain = /^[\w.~-]*$/.test(rest);
  const characters = new Set(
    `${rest.toLowerCase()}${rest.toUpperCase()}${isPlain ? '' : '%\\&#;0123456789abcdefABCDEF'}`,
  );
  return `[${[...characters].map(escapeInClass).join('')}]*`;
}

function anyForm(text: string, ignoresCase: boolean): string {
  // A run of backslashes is one piece: which of them escapes which other cannot be decided, nor tried.
  return (text.match(/\\+|[^\\]/gu) ?? []).map((piece) => anyFormOf(piece, ignoresCase)).join('');
}

/** One character in all the ways in which it is written. How often escapes are escaped is bounded, and so is the search. */
function anyFormOf(character: string, ignoresCase: boolean): string {
  if (character === '%') return '(?:%(?:25){0,3}|&#(?:0{0,4}37|[xX]0{0,4}25);|&percnt;)';
  if (character.startsWith('\\')) return `(?:\\\\|%(?:25){0,3}5[cC]|&#0{0,4}92;){1,${4 * character.length}}`;
  const percent = [...Buffer.from(character)].map((byte) => `%(?:25){0,3}${anyCaseOfHex(byte, 2)}`).join('');
  if (/[A-Za-z0-9]/.test(character)) {
    const literal = ignoresCase ? anyCase(character) : character;
    return `(?:${literal}|${percent})`;
  }
  const bytes = Buffer.from(character);
  // A host may read UTF-8 as Latin-1, or the other way round.
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

/** A character that stands for itself, with the backslashes that JSON or a shell puts before it. */
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
