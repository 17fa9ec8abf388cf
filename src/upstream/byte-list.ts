import { Excess } from './wire.ts';

/** Bytes that are put one behind another, up to a bound. */
export type ByteList = {
  length(): number;
  /** @throws Excess */
  push(byte: number): void;
  /** Copies a part of a chunk, which may be reused afterwards. @throws Excess */
  append(chunk: Buffer, from: number, to: number): void;
  /** What was put in from that place on, as UTF-8. */
  text(from?: number): string;
  /** What was put in, in place: it is overwritten by what is put in after a `clear`. */
  view(): Buffer;
  clear(): void;
};

const FIRST_BYTES = 1_024;

/** Makes a list of so many bytes at the most; it takes no more room than twice what is in it. */
export function createByteList(maxBytes: number): ByteList {
  let bytes = Buffer.allocUnsafe(Math.min(FIRST_BYTES, maxBytes));
  let length = 0;

  function makeRoom(more: number): void {
    if (length + more <= bytes.length) return;
    if (length + more > maxBytes) throw new Excess(`${maxBytes} bytes`);
    const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(length + more, bytes.length * 2)));
    bytes.copy(larger, 0, 0, length);
    bytes = larger;
  }

  return {
    length: () => length,
    push(byte) {
      makeRoom(1);
      bytes[length++] = byte;
    },
    append(chunk, from, to) {
      makeRoom(to - from);
      chunk.copy(bytes, length, from, to);
      length += to - from;
    },
    text: (from = 0) => bytes.toString('utf8', from, length),
    view: () => bytes.subarray(0, length),
    clear() {
      length = 0;
    },
  };
}
