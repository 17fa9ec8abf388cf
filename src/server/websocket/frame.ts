const FINAL_TEXT = 0x81;

/** Encodes a text message, the concatenation of its parts, in one unmasked frame: RFC 6455, section 5.2. */
export function toTextFrame(...parts: readonly (string | Buffer)[]): Buffer {
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  const start = length < 126 ? 2 : length < 2 ** 16 ? 4 : 10;
  const frame = Buffer.allocUnsafe(start + length);
  frame[0] = FINAL_TEXT;
  if (start === 2) {
    frame[1] = length;
  } else if (start === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  let end = start;
  for (const part of parts) end += typeof part === 'string' ? frame.write(part, end) : part.copy(frame, end);
  return frame;
}
