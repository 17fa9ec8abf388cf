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
   * Takes the next part where it starts, if it is the expected one and complete. Then nobody has to search its end.
   *
   * @returns the offset behind it; `undefined` if it was not taken
   */
  takeExpected?(bytes: Buffer, from: number): number | undefined;
  /**
   * Takes a part: `"key": value`, or a value of a list. Its memory is used again. Nothing but its end was checked.
   *
   * @throws SyntaxError for text that is not JSON
   */
  take(part: Buffer): void;
};

/** A part is parsed at once, so it must not be long enough to block the event loop. */
const MAX_PART_BYTES = 65_536;

const NO_BYTES = Buffer.alloc(0);

/** Creates what collects the bytes of each part, which can be in several chunks. */
export function createPartCutter(parts: JsonParts) {
  const part = createByteBuffer(MAX_PART_BYTES);
  let count = 0;
  /** Whether the current part was taken as the expected one, so that only a comma or the end may follow. */
  let isTaken = false;

  function take(bytes: Buffer): void {
    // The expected part is not recognised where it starts if it is in two chunks.
    const end = parts.takeExpected?.(bytes, 0);
    if (end === undefined) parts.take(bytes);
    else if (!bytes.subarray(end).every(isSpace)) throw new SyntaxError('no comma after a part');
  }

  return {
    begin(): void {
      count = 0;
      parts.begin();
    },
    /** Takes the next part where it starts, unless one has been started. @returns the offset to continue from */
    takeExpected(chunk: Buffer, from: number): number {
      if (isTaken || part.length() > 0) return from;
      const end = parts.takeExpected?.(chunk, from);
      isTaken = end !== undefined;
      return end ?? from;
    },
    /** The current part continues with these bytes. @throws TooLargeError */
    append: part.append,
    /** The current part ends with these bytes. @throws SyntaxError, TooLargeError */
    end(chunk: Buffer, from: number, to: number, isLast: boolean): void {
      let bytes: Buffer = NO_BYTES;
      if (from < to || part.length() > 0) {
        part.append(chunk, from, to);
        bytes = part.view();
        part.clear();
      }
      const isBlank = bytes.every(isSpace);
      if (isBlank && !isTaken && isLast && count === 0) return;
      if (isBlank !== isTaken) throw new SyntaxError(isBlank ? 'a comma without a part' : 'no comma after a part');
      if (!isTaken) take(bytes);
      isTaken = false;
      count += 1;
    },
  };
}

/** Whether a byte is white space in JSON. */
export function isSpace(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d && byte !== 0x0b && byte !== 0x0c);
}
