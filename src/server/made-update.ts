import type { ExecutionResult } from 'graphql';
import type { BeaconHeight } from '../domain/beacon-height.ts';
import type { Outcome } from './metrics.ts';
import { withoutHttp } from './refusal.ts';
import { toTextFrame } from './websocket-frame.ts';

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
  const { data, errors } = result;
  const told = errors?.map(withoutHttp);
  const text = JSON.stringify(told === undefined ? result : { ...result, errors: told });
  // graphql-ws has the errors behind the data.
  const payload = told === undefined ? text : JSON.stringify({ ...(data === undefined ? {} : { data }), errors: told });
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
export function outcomeOf({ data, errors }: ExecutionResult): Outcome {
  if (errors === undefined || errors.length === 0) return 'whole';
  return data == null ? 'failed' : 'partial';
}
