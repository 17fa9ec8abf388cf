import type { ExecutionResult } from 'graphql';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import type { WrittenResult } from '../../graphql/execution/execute.ts';
import type { Outcome } from '../metrics/metrics.ts';
import { withoutHttp } from '../refusal.ts';
import { toTextFrame } from '../websocket/websocket-frame.ts';

/** One update of a subscription, made once for all who get it. */
export type MadeUpdate = {
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
export function writeUpdate(result: ExecutionResult, height: BeaconHeight | undefined): MadeUpdate {
  let payload: string | Buffer = textOf(result);
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
  // A result without errors may be written already: its data is not looked at, because it would be read for that.
  if (result.errors === undefined || result.errors.length === 0) return 'whole';
  return result.data == null ? 'failed' : 'partial';
}

function textOf(result: WrittenResult): string {
  if (result.errors === undefined) return result.stringify?.(result) ?? JSON.stringify(result);
  const { errors, ...rest } = result;
  // Errors first, as the specification recommends.
  return JSON.stringify({ errors: errors.map(withoutHttp), ...rest });
}
