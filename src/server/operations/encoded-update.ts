import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { toTextOrBytes } from '../../graphql/execution/json-text.ts';
import { hasData, type WrittenResult } from '../../graphql/execution/written-result.ts';
import type { Outcome } from '../metrics/metrics.ts';

/** One update of a subscription, encoded once for all subscribers that receive it. */
export type EncodedUpdate = {
  readonly outcome: Outcome;
  /** The height after which a subscriber resumes; `undefined` if it would start anew. */
  readonly height: BeaconHeight | undefined;
  /** The result as JSON on one line: the data of a server-sent event. */
  toText(): string;
  /** The result as a `next` message of graphql-ws for an operation, in a websocket frame. */
  toFrame(id: string): Buffer;
};

/**
 * Encodes an update. @throws if a value cannot be encoded
 *
 * When there is a frame, the JSON is stored in the frame only. Each garbage collection of the young generation would copy the
 * texts of thousands of updates.
 */
export function encodeUpdate(result: WrittenResult, height: BeaconHeight | undefined): EncodedUpdate {
  let payload = toTextOrBytes(result.toJson());
  let last: { readonly id: string; readonly frame: Buffer } | undefined;

  return {
    outcome: outcomeOf(result),
    height,
    toText: () => String(payload),
    toFrame(id) {
      // Clients that count their operations all have the same ids.
      if (last?.id === id) return last.frame;
      const frame = toTextFrame(`{"id":${JSON.stringify(id)},"type":"next","payload":`, payload, END_OF_MESSAGE);
      payload = frame.subarray(-Buffer.byteLength(payload) - END_OF_MESSAGE.length, -END_OF_MESSAGE.length);
      last = { id, frame };
      return frame;
    },
  };
}

const END_OF_MESSAGE = '}';

/** The outcome of an execution, for the metrics. */
export function outcomeOf(result: WrittenResult): Outcome {
  if (result.errors === undefined || result.errors.length === 0) return 'whole';
  return hasData(result) ? 'partial' : 'failed';
}

/** Encodes a text message, the concatenation of its parts, in one unmasked frame: RFC 6455, section 5.2. */
function toTextFrame(...parts: readonly (string | Buffer)[]): Buffer {
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

const FINAL_TEXT = 0x81;
