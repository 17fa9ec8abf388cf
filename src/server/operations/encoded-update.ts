import type { GraphQLError } from 'graphql';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { toTextOrBytes } from '../../graphql/execution/json-text.ts';
import { hasData, type WrittenResult } from '../../graphql/execution/written-result.ts';
import type { Outcome } from '../metrics/metrics.ts';
import { frameHeader } from '../websocket/frame.ts';

/** One update of a subscription, encoded once for all subscribers that receive it. */
export type EncodedUpdate = {
  readonly outcome: Outcome;
  readonly errors: readonly GraphQLError[] | undefined;
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
    errors: result.errors,
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

/** Encodes a text message, the concatenation of its parts, in one frame. */
function toTextFrame(...parts: readonly (string | Buffer)[]): Buffer {
  const length = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  const header = frameHeader(length);
  const frame = Buffer.allocUnsafe(header.length + length);
  let end = frame.write(header, 'latin1');
  for (const part of parts) end += typeof part === 'string' ? frame.write(part, end) : part.copy(frame, end);
  return frame;
}
