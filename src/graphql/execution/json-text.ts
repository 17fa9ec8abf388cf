/**
 * JSON as text, or in pieces if it is long. Long pieces are bytes already. V8 stores a string that was written piece by piece
 * as a tree. Copying a large tree into one string and then into bytes would block the event loop and take three times the memory.
 */
export type JsonText = string | readonly (string | Buffer)[];

/** Minimum length of a string that becomes a piece of bytes, in characters. */
const MIN_PIECE_LENGTH = 65_536;

/** A part of a response to which nothing is added: as bytes if it is long. */
export function finishText(json: JsonText): JsonText {
  return typeof json === 'string' && json.length >= MIN_PIECE_LENGTH ? [Buffer.from(json)] : json;
}

/** The texts, one after another. */
export function concatTexts(texts: readonly JsonText[]): JsonText {
  let pieces: (string | Buffer)[] | undefined;
  let last = '';
  for (const text of texts) {
    if (typeof text === 'string') {
      last += text;
      continue;
    }
    pieces ??= [];
    if (last !== '') pieces.push(last);
    for (const piece of text) pieces.push(piece);
    last = '';
  }
  if (pieces !== undefined && last !== '') pieces.push(last);
  return pieces ?? last;
}

/** The text as a string. @throws RangeError if it is too long for a string */
export function toWholeText(json: JsonText): string {
  return typeof json === 'string' ? json : json.join('');
}

/** The text as bytes, in pieces if it is long. */
export function toBytes(json: JsonText): readonly Buffer[] {
  const pieces = typeof json === 'string' ? [json] : json;
  return pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece));
}
