import { TooLargeError } from './wire.ts';

/** A buffer that grows, up to a maximum size. */
export type ByteBuffer = {
  length(): number;
  /** @throws TooLargeError */
  push(byte: number): void;
  /** Copies a part of a chunk, which may be reused afterwards. @throws TooLargeError */
  append(chunk: Buffer, from: number, to: number): void;
  /** The bytes from that offset on, as UTF-8, without a byte order mark. */
  text(from?: number): string;
  /** The bytes in place: what is appended after a `clear` overwrites them. */
  view(): Buffer;
  clear(): void;
};

const FIRST_BYTES = 1_024;

const UTF_8 = new TextDecoder();

/** Creates an empty buffer. It takes at most twice the memory of its content. */
export function createByteBuffer(maxBytes: number): ByteBuffer {
  let bytes = Buffer.allocUnsafe(Math.min(FIRST_BYTES, maxBytes));
  let length = 0;

  function reserve(more: number): void {
    if (length + more <= bytes.length) return;
    if (length + more > maxBytes) throw new TooLargeError(`${maxBytes} bytes`);
    const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(length + more, bytes.length * 2)));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
  }

  return {
    length: () => length,
    push(byte) {
      reserve(1);
      bytes[length++] = byte;
    },
    append(chunk, from, to) {
      reserve(to - from);
      chunk.copy(bytes, length, from, to);
      length += to - from;
    },
    text: (from = 0) => UTF_8.decode(bytes.subarray(from, length)),
    view: () => bytes.subarray(0, length),
    clear() {
      length = 0;
    },
  };
}
