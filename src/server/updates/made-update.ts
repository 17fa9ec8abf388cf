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
  readonly text: string;
  /** The same as the `next` message of an operation on a websocket, in a frame of its own. */
  toFrame(id: string): Buffer;
};

/** Writes what was executed, so that nothing is left to do for each reader. @throws where a value cannot be written */
export function writeUpdate(result: ExecutionResult, height: BeaconHeight | undefined): MadeUpdate {
  const { errors } = result;
  const told = errors?.map(withoutHttp);
  const text = told === undefined ? textOf(result) : JSON.stringify({ ...result, errors: told });
  // graphql-ws has the errors behind the data.
  const payload =
    told === undefined
      ? text
      : JSON.stringify({ ...(result.data === undefined ? {} : { data: result.data }), errors: told });
  let last: { readonly id: string; readonly frame: Buffer } | undefined;

  return {
    outcome: outcomeOf(result),
    height,
    text,
    toFrame(id) {
      // Clients that count their operations all have the same ids.
      if (last?.id !== id) {
        last = { id, frame: toTextFrame(`{"id":${JSON.stringify(id)},"type":"next","payload":${payload}}`) };
      }
      return last.frame;
    },
  };
}

/** How an execution ended. */
export function outcomeOf(result: ExecutionResult): Outcome {
  // A result without errors may be written already: its data is not looked at, because it would be read for that.
  if (result.errors === undefined || result.errors.length === 0) return 'whole';
  return result.data == null ? 'failed' : 'partial';
}

function textOf(result: WrittenResult): string {
  return result.stringify?.(result) ?? JSON.stringify(result);
}
