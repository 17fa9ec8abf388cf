import { createByteBuffer } from './byte-buffer.ts';
import { parseJson } from './json.ts';
import { createPartCutter, isSpace, type JsonParts } from './json-parts.ts';
import type { ResponseReader } from './response-body.ts';
import { TooLargeError } from './wire.ts';

/** What is kept of a document. */
type JsonFilter = {
  /** The member of the document to which the filter applies; everything around it is kept. Without it, the document itself. */
  readonly within?: string | undefined;
  /** The members that are kept. Of all others, strings, lists and objects become empty. */
  readonly keep: readonly string[];
  readonly parts?: JsonParts | undefined;
  /** The maximum of what is kept, without the parts. */
  readonly maxBytes: number;
};

/** How many brackets are open between the members of the document. */
const IN_DOCUMENT = 1;

const MAX_DEPTH = 1_000;

const [QUOTE, COMMA, BACKSLASH, OPENING_BRACE, OPENING_BRACKET] = [0x22, 0x2c, 0x5c, 0x7b, 0x5b];

/**
 * Creates the reader of a large document. It keeps a small part of it, which is parsed at the end.
 *
 * Of what is skipped, only the end is searched: brackets must match, and strings must be closed. Around it everything is
 * kept, also keys and commas, so it is checked as strictly as `JSON.parse` does.
 *
 * @param read decodes what was kept
 */
export function createFilteredReader<T>(filter: JsonFilter, read: (document: unknown) => T): ResponseReader<T> {
  const { within, keep, parts, maxBytes } = filter;
  /** How many brackets are open between the members that are filtered, and between parts. */
  const inFiltered = within === undefined ? IN_DOCUMENT : IN_DOCUMENT + 1;
  const inParts = inFiltered + 1;

  const kept = createByteBuffer(maxBytes);
  const cutter = parts && createPartCutter(parts);
  const innerLists = parts?.innerLists;
  const innerCutter = innerLists && createPartCutter(innerLists);
  /** How many brackets are open between the values of such a list. */
  const inInnerList = inParts + 1 + (innerLists?.depth ?? 0);
  let isInInnerList = false;
  let state: 'keep' | 'skip' | 'cut' = 'keep';
  /** How many brackets are open around what is skipped or cut. */
  let depthAround = 0;

  const openers = new Uint8Array(MAX_DEPTH);
  let depth = 0;
  let isComplete = false;

  /** Whether a string continues in the next chunk. Its bytes are appended to `stringTarget`; if there is none, they are skipped. */
  let isInString = false;
  let isNextEscaped = false;
  let stringTarget: Pick<typeof kept, 'append'> | undefined;

  /** The last key of the document or of the filtered member, and where a key that is being read starts. */
  let key: string | undefined;
  let keyStart: number | undefined;
  let isKeyNext = false;
  let isFiltered = within === undefined;
  let isAfterSpace = true;

  function write(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (isInString) at = continueString(chunk, at);
      else if (state === 'keep') at = keepNext(chunk, at);
      else at = passOver(chunk, at);
    }
  }

  function continueString(chunk: Buffer, from: number): number {
    const end = findStringEnd(chunk, from);
    isInString = end === undefined;
    stringTarget?.append(chunk, from, end ?? chunk.length);
    if (!isInString && keyStart !== undefined) {
      key = JSON.parse(kept.text(keyStart));
      keyStart = undefined;
    }
    return end ?? chunk.length;
  }

  function keepNext(chunk: Buffer, at: number): number {
    const byte = chunk[at] ?? 0;
    if (isSpace(byte)) {
      // One space is enough. Some responses end in spaces without end.
      if (!isAfterSpace) kept.push(byte);
      isAfterSpace = true;
      let next = at + 1;
      while (next < chunk.length && chunk[next] === byte) next += 1;
      return next;
    }
    if (isComplete) throw new SyntaxError('text after the end of the document');

    isAfterSpace = false;
    if (byte === QUOTE) beginString();
    else if (isOpener(byte)) begin(byte);
    else {
      if (isCloser(byte)) close(byte);
      if (byte === COMMA) isKeyNext = true;
      kept.push(byte);
    }
    return at + 1;
  }

  function beginString(): void {
    const isKey = isKeyNext && (depth === IN_DOCUMENT || (depth === inFiltered && isFiltered));
    isInString = true;
    stringTarget = kept;
    if (isKey) keyStart = kept.length();
    if (!isKey && isSkipped()) {
      stringTarget = undefined;
      kept.push(QUOTE);
    }
    kept.push(QUOTE);
    isKeyNext = false;
  }

  /** A list or an object begins outside of what is skipped or cut. */
  function begin(opener: number): void {
    const isObject = opener === OPENING_BRACE;
    if (depth === IN_DOCUMENT && within !== undefined) isFiltered = key === within;

    if (depth === inFiltered && isFiltered && parts !== undefined && key === parts.name && isObject !== parts.isList) {
      state = 'cut';
      cutter?.begin();
    } else if (isSkipped() || (!isObject && (depth === 0 || (depth === inFiltered - 1 && isFiltered)))) {
      state = 'skip';
    }
    depthAround = depth;
    open(opener);
    kept.push(opener);
    isKeyNext = isObject;
  }

  /** Whether a value here belongs to a member that is not kept. */
  function isSkipped(): boolean {
    return depth === inFiltered && isFiltered && !keep.includes(key ?? '');
  }

  /** Moves to the end of what is skipped or cut. This is most of a response, so nothing is done twice. */
  function passOver(chunk: Buffer, start: number): number {
    let cut = state === 'cut' ? (isInInnerList ? innerCutter : cutter) : undefined;
    let from = start;
    let at = start;

    /** Switches between a part and a list inside of it. @param to the bytes before this offset belong to the one that is left */
    function change(isInside: boolean, to: number): void {
      if (isInside) {
        cutter?.append(chunk, from, to);
        const number = Buffer.from(String(innerCutter?.begin()));
        cutter?.append(number, 0, number.length);
      } else {
        innerCutter?.end(chunk, from, to, true);
      }
      isInInnerList = isInside;
      cut = isInside ? innerCutter : cutter;
      from = to;
    }

    while (at < chunk.length) {
      const byte = chunk[at++] ?? 0;
      if (byte === QUOTE) {
        const end = findStringEnd(chunk, at);
        isInString = end === undefined;
        stringTarget = cut;
        at = end ?? chunk.length;
      } else if (isOpener(byte)) {
        open(byte);
        if (byte === OPENING_BRACKET && depth === inInnerList && cut !== undefined && innerCutter !== undefined)
          change(true, at);
      } else if (isCloser(byte)) {
        close(byte);
        if (isInInnerList && depth < inInnerList) change(false, at - 1);
        if (depth > depthAround) continue;
        cut?.end(chunk, from, at - 1, true);
        state = 'keep';
        kept.push(byte);
        return at;
      } else if (byte === COMMA && cut !== undefined && depth === (isInInnerList ? inInnerList : inParts)) {
        cut.end(chunk, from, at - 1, false);
        from = at;
      }
    }
    cut?.append(chunk, from, at);
    return at;
  }

  /** The offset behind the closing quote of a string; `undefined` if the string continues in the next chunk. */
  function findStringEnd(chunk: Buffer, from: number): number | undefined {
    let at = isNextEscaped ? from + 1 : from;
    isNextEscaped = false;
    for (;;) {
      const quote = chunk.indexOf(QUOTE, at);
      const isEscaped = countBackslashes(chunk, at, quote < 0 ? chunk.length : quote) % 2 === 1;
      if (quote < 0) {
        isNextEscaped = isEscaped;
        return undefined;
      }
      if (!isEscaped) return quote + 1;
      at = quote + 1;
    }
  }

  function open(opener: number): void {
    if (depth === MAX_DEPTH) throw new TooLargeError(`${MAX_DEPTH} levels of nesting`);
    openers[depth++] = opener;
  }

  function close(closer: number): void {
    // In ASCII, each opener is two before its closer.
    if (depth === 0 || openers[depth - 1] !== closer - 2) throw new SyntaxError('a bracket that does not match');
    depth -= 1;
    isComplete = depth === 0;
  }

  return {
    write,
    end() {
      if (isInString || depth > 0) throw new SyntaxError('the document is not complete');
      return read(parseJson(kept.text()));
    },
  };
}

/** How many backslashes are directly before that offset, none of them before `from`. */
function countBackslashes(chunk: Buffer, from: number, before: number): number {
  let first = before;
  while (first > from && chunk[first - 1] === BACKSLASH) first -= 1;
  return before - first;
}

/** Whether a byte is `[` or `{`, which differ in one bit. */
function isOpener(byte: number): boolean {
  return (byte | 0x20) === 0x7b;
}

/** Whether a byte is `]` or `}`, which differ in one bit. */
function isCloser(byte: number): boolean {
  return (byte | 0x20) === 0x7d;
}
