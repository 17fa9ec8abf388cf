import { randomWord } from './trace-context.ts';

/** The space for a message. It grows for a longer one. */
const INITIAL_BYTES = 600 * 1_024;

/** Above this, a shift would change a number. */
const MAX_UINT32 = 0xffff_ffff;

/** The longest text that is written character by character. */
const SHORT_TEXT = 64;

/** The longest varint has ten bytes, and a tag has two. */
const MAX_NUMBER_BYTES = 12;

/**
 * Writes a message of protobuf from its end to its start, so that the length of a part is known when it is written in front of
 * it. The fields of a message, and the parts of a field, are therefore written in reverse order: the value, then the tag.
 *
 * A tag is the number of the field times 8, plus its wire type: 0 for a varint, 1 for 64 bits, 2 for a length and bytes, 5 for
 * 32 bits.
 */
export class ProtobufWriter {
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #start = INITIAL_BYTES;
  /** A buffer that is free. */
  #spare: Buffer<ArrayBuffer> | undefined;

  /** The number of bytes so far. */
  get length(): number {
    return this.#bytes.length - this.#start;
  }

  /** Takes the bytes of the message. Afterwards, another message can be written. */
  take(): Uint8Array {
    const message = this.#bytes.subarray(this.#start);
    this.#bytes = this.#spare ?? Buffer.allocUnsafeSlow(INITIAL_BYTES);
    this.#spare = undefined;
    this.#start = this.#bytes.length;
    return message;
  }

  /** Takes back a message that nobody reads any more. A later one overwrites it: fresh memory costs more than writing it. */
  reuse(message: Uint8Array): void {
    this.#spare = Buffer.from(message.buffer as ArrayBuffer);
  }

  /** Writes an integer of 0 to 2^53. */
  varint(tag: number, value: number): void {
    this.#number(value);
    this.#number(tag);
  }

  fixed32(tag: number, value: number): void {
    this.#uint32(value);
    this.#number(tag);
  }

  /** Writes an unsigned integer, with the precision of a number. */
  fixed64(tag: number, value: number): void {
    const high = Math.floor(value / 2 ** 32);
    this.#uint32(high);
    this.#uint32(value - high * 2 ** 32);
    this.#number(tag);
  }

  double(tag: number, value: number): void {
    this.#reserve(8);
    this.#start -= 8;
    this.#bytes.writeDoubleLE(value, this.#start);
    this.#number(tag);
  }

  text(tag: number, value: string): void {
    const bytes = this.#shortText(value) ? value.length : this.#longText(value);
    this.#number(bytes);
    this.#number(tag);
  }

  hex(tag: number, value: string): void {
    const length = value.length / 2;
    this.#reserve(length);
    const bytes = this.#bytes;
    const start = this.#start - length;
    for (let at = 0; at < length; at++) bytes[start + at] = (digitAt(value, 2 * at) << 4) | digitAt(value, 2 * at + 1);
    this.#start = start;
    this.#number(length);
    this.#number(tag);
  }

  /** Writes a random id with this number of words, which takes less time than to create it as a text first. */
  randomId(tag: number, words: number): void {
    for (let word = 0; word < words; word++) this.#uint32(randomWord());
    this.#number(4 * words);
    this.#number(tag);
  }

  /** Writes what precedes a message within this one, which was written since `length` had this value. */
  endMessage(tag: number, length: number): void {
    this.#number(this.length - length);
    this.#number(tag);
  }

  /** Writes a short text of ASCII. @returns whether it is one: calling Buffer would take longer than writing it */
  #shortText(value: string): boolean {
    const { length } = value;
    if (length > SHORT_TEXT) return false;
    this.#reserve(length);
    const bytes = this.#bytes;
    const start = this.#start - length;
    for (let at = 0; at < length; at++) {
      const code = value.charCodeAt(at);
      if (code > 0x7f) return false;
      bytes[start + at] = code;
    }
    this.#start = start;
    return true;
  }

  /** Writes a text. @returns the number of its bytes */
  #longText(value: string): number {
    const bytes = Buffer.byteLength(value);
    this.#reserve(bytes);
    this.#start -= bytes;
    this.#bytes.write(value, this.#start);
    return bytes;
  }

  /** Writes a varint without a tag. */
  #number(value: number): void {
    this.#reserve(MAX_NUMBER_BYTES);
    if (value < 0x80) {
      this.#start -= 1;
      this.#bytes[this.#start] = value;
      return;
    }
    let size = 1;
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size += 1;
    this.#start -= size;
    let at = this.#start;
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[at] = (rest % 0x80) + 0x80;
      rest = rest > MAX_UINT32 ? Math.floor(rest / 0x80) : rest >>> 7;
      at += 1;
    }
    this.#bytes[at] = rest;
  }

  #uint32(value: number): void {
    this.#reserve(4);
    this.#start -= 4;
    const bytes = this.#bytes;
    const start = this.#start;
    bytes[start] = value;
    bytes[start + 1] = value >>> 8;
    bytes[start + 2] = value >>> 16;
    bytes[start + 3] = value >>> 24;
  }

  /** Ensures that this number of bytes fits before those that are written. */
  #reserve(bytes: number): void {
    if (this.#start >= bytes) return;
    const { length } = this;
    const larger = Buffer.allocUnsafeSlow(2 * this.#bytes.length + bytes);
    this.#start = larger.length - length;
    this.#bytes.copy(larger, this.#start, this.#bytes.length - length);
    this.#bytes = larger;
  }
}

/** The value of a digit in hexadecimal, in lower case. */
function digitAt(value: string, at: number): number {
  const code = value.charCodeAt(at);
  return code < 0x40 ? code - 0x30 : code - 0x57;
}
