/** Finds where a text of JSON ends that may lie across several chunks. */
export type JsonStringEnd = {
  /** The place behind the closing quote, or `undefined` where the text goes on in the next chunk. */
  find(chunk: Buffer, from: number): number | undefined;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Makes a finder for one text after another: each is looked for until it has ended. */
export function createJsonStringEnd(): JsonStringEnd {
  let isNextEscaped = false;

  return {
    find(chunk, from) {
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
    },
  };
}

/** How many backslashes stand directly before that place, none of them before `from`. */
function countBackslashes(chunk: Buffer, from: number, before: number): number {
  let first = before;
  while (first > from && chunk[first - 1] === BACKSLASH) first -= 1;
  return before - first;
}
