import { createByteBuffer } from './byte-buffer.ts';

/** Receives the parts of one list or object of a document, each as soon as it has arrived. */
export type JsonParts = {
  /** The member whose value is cut into parts. The filter keeps an empty list or object in its place. */
  readonly name: string;
  /** Whether that value is a list. If the document has an object there, or the reverse, it is skipped. */
  readonly isList: boolean;
  /** The list or object begins. It replaces one that came before. */
  begin(): void;
  /**
   * Takes a part: `"key": value`, or a value of a list. Its memory is used again. Nothing but its end was checked.
   *
   * @throws SyntaxError for text that is not JSON
   */
  take(part: Buffer): void;
  /** Takes the beginning of a part that is too long, in place of `take`. Without this function, the document cannot be read. */
  tooLong?(beginning: Buffer): void;
  /** Cuts the lists inside of a part, so that a long part is not parsed at once. */
  readonly innerLists?: InnerLists | undefined;
};

/** Receives the values of the lists at one depth inside of a part, each as soon as it has arrived, before the part itself. */
type InnerLists = Pick<JsonParts, 'take'> & {
  /** How many brackets are open around such a list in its part. */
  readonly depth: number;
  /** A list begins. The part that is taken has a list of this number in its place. */
  begin(): number;
};

/** A part is parsed at once, so it must not be long enough to block the event loop. */
const MAX_PART_BYTES = 65_536;

/** Creates what collects the bytes of each part, which can be in several chunks. */
export function createPartCutter<T>(parts: Pick<JsonParts, 'take' | 'tooLong'> & { begin(): T }) {
  const part = createByteBuffer(MAX_PART_BYTES);
  let isTooLong = false;
  let count = 0;

  function append(chunk: Buffer, from: number, to: number): void {
    const end = from + MAX_PART_BYTES - part.length();
    isTooLong ||= parts.tooLong !== undefined && to > end;
    part.append(chunk, from, isTooLong ? Math.min(to, end) : to);
  }

  return {
    begin(): T {
      count = 0;
      return parts.begin();
    },
    /** The current part continues with these bytes. @throws TooLargeError */
    append,
    /** The current part ends with these bytes. @throws SyntaxError, TooLargeError */
    end(chunk: Buffer, from: number, to: number, isLast: boolean): void {
      append(chunk, from, to);
      const bytes = part.take();
      const isBlank = !isTooLong && bytes.every(isSpace);
      if (isBlank && isLast && count === 0) return;
      if (isBlank) throw new SyntaxError('a comma without a part');
      if (isTooLong) parts.tooLong?.(bytes);
      else parts.take(bytes);
      isTooLong = false;
      count += 1;
    },
  };
}

/** Whether a byte is white space in JSON. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
