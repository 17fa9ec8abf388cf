import { TooLargeError } from './wire.ts';

/** A buffer that grows, up to a maximum size. */
export type ByteBuffer = ReturnType<typeof createByteBuffer>;

const FIRST_BYTES = 1_024;

const UTF_8 = new TextDecoder();

/** Creates an empty buffer. It takes a kilobyte, or at most twice the memory of the longest content that it has had. */
export function createByteBuffer(maxBytes: number) {
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
    /** @throws TooLargeError */
    push(byte: number): void {
      reserve(1);
      bytes[length++] = byte;
    },
    /** Copies a part of a chunk, which may be reused afterwards. @throws TooLargeError */
    append(chunk: Buffer, from: number, to: number): void {
      reserve(to - from);
      chunk.copy(bytes, length, from, to);
      length += to - from;
    },
    /** The bytes from that offset on, as UTF-8, without a byte order mark. */
    text: (from = 0): string => UTF_8.decode(bytes.subarray(from, length)),
    /** Empties the buffer. @returns its bytes in place: what is appended next overwrites them */
    take(): Buffer {
      const taken = bytes.subarray(0, length);
      length = 0;
      return taken;
    },
  };
}
