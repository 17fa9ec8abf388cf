import { crc32 } from 'node:zlib';
import { createByteReader, RefusedMessageError, text, u32 } from './byte-reader.ts';

/**
 * The version of the format of all messages. A gateway reads only its own: while a fleet is restarted with a version that
 * has another format, those that cannot read the leader follow the chain alone.
 */
const FORMAT_VERSION = 1;

/** What a message contains. The numbers are in messages, so that they never change. */
export const MESSAGE_KINDS = { head: 1, filled: 2, pairs: 3, tickers: 4, status: 5 } as const;

/** A kind of messages. */
export type MessageKind = keyof typeof MESSAGE_KINDS;

/** A message after its envelope was checked. */
export type Message = { readonly kind: MessageKind; readonly chain: string; readonly payload: Buffer };

/** A keyframe of 100,000 pools has 5 MB. */
const MAX_MESSAGE_BYTES = 64 * 2 ** 20;

const KINDS = Object.keys(MESSAGE_KINDS) as readonly MessageKind[];

/** Writes a message: the version, a checksum of all that follows, the kind, the name of the chain, the payload. */
export function writeMessage({ kind, chain, payload }: Message): Buffer {
  const body = Buffer.concat([Buffer.from([MESSAGE_KINDS[kind]]), text(chain), payload]);
  return Buffer.concat([Buffer.from([FORMAT_VERSION]), u32(crc32(body)), body]);
}

/**
 * Reads the envelope of a message.
 *
 * @param chain the name of the chain that this gateway follows; `undefined` if it does not know it yet
 * @throws RefusedMessageError
 */
export function readMessage(bytes: Buffer, chain: string | undefined): Message {
  if (bytes.length > MAX_MESSAGE_BYTES) throw new RefusedMessageError('size', 'a message is too large');
  const reader = createByteReader(bytes);
  const version = reader.u8();
  if (version !== FORMAT_VERSION)
    throw new RefusedMessageError('version', `a message has the format version ${version}, not ${FORMAT_VERSION}`);
  const checksum = reader.u32();
  const body = reader.rest();
  if (crc32(body) !== checksum) throw new RefusedMessageError('damaged', 'the checksum of a message is wrong');

  const parts = createByteReader(body);
  const number = parts.u8();
  const kind = KINDS.find((each) => MESSAGE_KINDS[each] === number);
  if (kind === undefined) throw new RefusedMessageError('damaged', 'a message has an unknown kind');
  const ofChain = parts.text();
  // A leader that has not read a node yet does not know the name.
  if (chain !== undefined && ofChain !== '' && ofChain !== chain)
    throw new RefusedMessageError('chain', `a message belongs to the chain ${JSON.stringify(ofChain)}`);
  return { kind, chain: ofChain, payload: parts.rest() };
}

/** Reads a value, and refuses the message if that fails. @throws RefusedMessageError */
export function orRefuse<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RefusedMessageError) throw error;
    throw new RefusedMessageError('damaged', error instanceof Error ? error.message : String(error));
  }
}
