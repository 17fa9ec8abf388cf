/** A message of the fleet that cannot be used. */
export class RefusedMessageError extends Error {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, what: string) {
    super(what);
    this.name = 'RefusedMessageError';
    this.reason = reason;
  }
}

/** Why a message was refused: another format version, damaged bytes, too many bytes, another chain, or a message before it is missing. */
export type RefusalReason = 'version' | 'damaged' | 'size' | 'chain' | 'gap';

/** Reads the bytes of a message in order. Each call throws RefusedMessageError if there are too few. */
export type ByteReader = {
  u8(): number;
  u32(): number;
  /** Reads this number of bytes, without copying them. */
  bytes(length: number): Buffer;
  /** A text with its length before it. */
  text(): string;
  /** All bytes that are left. */
  rest(): Buffer;
  /** @throws RefusedMessageError if bytes are left */
  end(): void;
};

/** Starts at the first byte. */
export function createByteReader(message: Buffer): ByteReader {
  let at = 0;

  function bytes(length: number): Buffer {
    if (length > message.length - at) throw new RefusedMessageError('damaged', 'a message is too short');
    at += length;
    return message.subarray(at - length, at);
  }

  const u32 = () => bytes(4).readUInt32LE();
  return {
    u8: () => bytes(1).readUInt8(),
    u32,
    bytes,
    text: () => bytes(u32()).toString(),
    rest: () => bytes(message.length - at),
    end() {
      if (at < message.length) throw new RefusedMessageError('damaged', 'a message is too long');
    },
  };
}

/** The four bytes of a number from 0 to 2^32 - 1. */
export function u32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** A text with its length before it. */
export function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u32(bytes.length), bytes]);
}
