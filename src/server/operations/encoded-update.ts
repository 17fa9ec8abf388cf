import type { ExecutionResult } from 'graphql';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { hasData, type WrittenResult } from '../../graphql/execution/written-result.ts';
import type { Outcome } from '../metrics/metrics.ts';
import { toTextFrame } from '../websocket/frame.ts';

/** One update of a subscription, made once for all who get it. */
export type EncodedUpdate = {
  readonly outcome: Outcome;
  /** The height that its readers would go on after; `undefined` where they would begin anew. */
  readonly height: BeaconHeight | undefined;
  /** The result as JSON on one line, as the data of an event. */
  toText(): string;
  /** The same as the `next` message of an operation on a websocket, in a frame of its own. */
  toFrame(id: string): Buffer;
};

/**
 * Writes what was executed, so that nothing is left to do for each reader. @throws where a value cannot be written
 *
 * Once there is a frame, the text is kept in it alone: beside thousands of frames, texts would be copied with each
 * collection of young garbage.
 */
export function encodeUpdate(result: WrittenResult, height: BeaconHeight | undefined): EncodedUpdate {
  let payload: string | Buffer = result.toText();
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

/** How an execution ended. */
export function outcomeOf(result: ExecutionResult): Outcome {
  if (result.errors === undefined || result.errors.length === 0) return 'whole';
  return hasData(result) ? 'partial' : 'failed';
}
