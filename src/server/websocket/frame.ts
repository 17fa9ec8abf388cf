/** The header of an unmasked frame with a complete text message of this length, in Latin-1: RFC 6455, section 5.2. */
export function frameHeader(bytes: number): string {
  if (bytes < 126) return String.fromCharCode(FINAL_TEXT, bytes);
  if (bytes < 2 ** 16) return String.fromCharCode(FINAL_TEXT, 126, bytes >> 8, bytes & 0xff);
  const length = Buffer.alloc(8);
  length.writeBigUInt64BE(BigInt(bytes));
  return String.fromCharCode(FINAL_TEXT, 127, ...length);
}

const FINAL_TEXT = 0x81;

/** A `next` message of graphql-ws with the result of an operation, in one frame. */
export function nextFrame(id: string, json: string | Buffer): Buffer {
  const parts = [`{"id":${JSON.stringify(id)},"type":"next","payload":`, json, '}'];
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  const header = frameHeader(length);
  const frame = Buffer.allocUnsafe(header.length + length);
  let end = frame.write(header, 'latin1');
  for (const part of parts) end += typeof part === 'string' ? frame.write(part, end) : part.copy(frame, end);
  return frame;
}
