import { createBrackets, isCloser, isOpener } from './brackets.ts';
import { type ByteList, createByteList } from './byte-list.ts';
import { createMemberCutter, isSpace, type JsonMembers } from './json-members.ts';
import { createJsonStringEnd } from './json-string.ts';

/** Takes a JSON document in as it comes, and keeps of it only what is asked for. */
export type JsonSieve = {
  /** @throws SyntaxError as soon as it cannot be JSON any more, Excess where more is to be kept than is allowed */
  write(chunk: Buffer): void;
  /** What was kept, as the text of a document. @throws SyntaxError where an end is missing */
  end(): string;
};

/** What of a document is kept. */
export type JsonSieveOptions = {
  /** The member of the document that is sieved; all beside it is kept. Without it, the document itself is. */
  readonly within?: string | undefined;
  /** Those of its members that are kept; of each other that is a text, a list or an object, an empty one is. */
  readonly keep: readonly string[];
  /** One whose own members are given one by one; an empty one is kept in its place. */
  readonly each?: JsonMembers | undefined;
  /** How much is kept, without what is given one by one. */
  readonly maxBytes: number;
};

/** How many brackets are open between the members of the document. */
const IN_DOCUMENT = 1;

const [QUOTE, COMMA, OPENS_OBJECT] = [0x22, 0x2c, 0x7b];

/**
 * Makes a sieve for one document.
 *
 * What is dropped is only searched for its end: its brackets have to match and its texts to be closed. Around it all is
 * kept, keys and commas too, and is parsed by whoever gets it: so that is as correct as `JSON.parse` wants it.
 */
export function createJsonSieve({ within, keep, each, maxBytes }: JsonSieveOptions): JsonSieve {
  /** The same between the members of what is sieved, and of what is given by members. */
  const inSieved = within === undefined ? IN_DOCUMENT : IN_DOCUMENT + 1;
  const inEach = inSieved + 1;

  const kept = createByteList(maxBytes);
  const members = each && createMemberCutter(each);
  const brackets = createBrackets();
  const stringEnd = createJsonStringEnd();

  let state: 'keep' | 'drop' | 'members' = 'keep';
  /** How many brackets are open around what is dropped or given by members. */
  let depthAround = 0;

  /** The text that is being read goes on in the next chunk, and this is where it goes to. */
  let isInString = false;
  let stringGoesTo: Pick<ByteList, 'append'> | undefined;

  /** The last key of the document or of the member that is sieved, and where one that is being read begins. */
  let name: string | undefined;
  let keyFrom: number | undefined;
  let isKeyNext = false;
  let isSieved = within === undefined;
  let isAfterSpace = true;

  function write(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (isInString) at = goOnInString(chunk, at);
      else if (state === 'keep') at = keepNext(chunk, at);
      else at = passOver(chunk, at);
    }
  }

  function goOnInString(chunk: Buffer, from: number): number {
    const end = stringEnd.find(chunk, from);
    isInString = end === undefined;
    stringGoesTo?.append(chunk, from, end ?? chunk.length);
    if (!isInString && keyFrom !== undefined) {
      name = JSON.parse(kept.text(keyFrom));
      keyFrom = undefined;
    }
    return end ?? chunk.length;
  }

  function keepNext(chunk: Buffer, at: number): number {
    const byte = chunk[at] ?? 0;
    if (isSpace(byte)) {
      // One says as much as many, and some answers end in spaces without end.
      if (!isAfterSpace) kept.push(byte);
      isAfterSpace = true;
      return at + 1;
    }
    if (brackets.areClosed()) throw new SyntaxError('it goes on after its end');

    isAfterSpace = false;
    if (byte === QUOTE) beginString();
    else if (isOpener(byte)) begin(byte);
    else {
      if (isCloser(byte)) brackets.close(byte);
      if (byte === COMMA) isKeyNext = true;
      kept.push(byte);
    }
    return at + 1;
  }

  function beginString(): void {
    const isKey = isKeyNext && isBetweenNames();
    isInString = true;
    stringGoesTo = kept;
    if (isKey) keyFrom = kept.length();
    if (!isKey && isDropped()) {
      stringGoesTo = undefined;
      kept.push(QUOTE);
    }
    kept.push(QUOTE);
    isKeyNext = false;
  }

  function begin(opener: number): void {
    const isObject = opener === OPENS_OBJECT;
    const depth = brackets.depth();
    if (depth === IN_DOCUMENT && within !== undefined) isSieved = name === within;

    if (depth === inSieved && isSieved && each !== undefined && name === each.name && isObject !== each.isList) {
      state = 'members';
      members?.begin();
    } else if (isDropped() || (!isObject && (depth === 0 || (depth === inSieved - 1 && isSieved)))) {
      state = 'drop';
    }
    depthAround = depth;
    brackets.open(opener);
    kept.push(opener);
    isKeyNext = isObject;
  }

  /** Whether what stands here is a member of the document, or of the one that is sieved. */
  function isBetweenNames(): boolean {
    return brackets.depth() === IN_DOCUMENT || (brackets.depth() === inSieved && isSieved);
  }

  function isDropped(): boolean {
    return brackets.depth() === inSieved && isSieved && !keep.includes(name ?? '');
  }

  /** Goes to the end of what is dropped or given by members: this is most of an answer, so it does nothing twice. */
  function passOver(chunk: Buffer, start: number): number {
    const cut = state === 'members' ? members : undefined;
    let from = cut?.takeExpected(chunk, start) ?? start;
    let at = from;
    while (at < chunk.length) {
      const byte = chunk[at++] ?? 0;
      if (byte === QUOTE) {
        const end = stringEnd.find(chunk, at);
        isInString = end === undefined;
        stringGoesTo = cut;
        at = end ?? chunk.length;
      } else if (isOpener(byte)) {
        brackets.open(byte);
      } else if (isCloser(byte)) {
        brackets.close(byte);
        if (brackets.depth() > depthAround) continue;
        cut?.take(chunk, from, at - 1, true);
        state = 'keep';
        kept.push(byte);
        return at;
      } else if (byte === COMMA && cut !== undefined && brackets.depth() === inEach) {
        cut.take(chunk, from, at - 1, false);
        from = cut.takeExpected(chunk, at);
        at = from;
      }
    }
    cut?.append(chunk, from, at);
    return at;
  }

  return {
    write,
    end() {
      if (isInString || brackets.depth() > 0) throw new SyntaxError('it ends before it is whole');
      return kept.text();
    },
  };
}
