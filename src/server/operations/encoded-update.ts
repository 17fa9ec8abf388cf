import type { GraphQLError } from 'graphql';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { hasData, toBytes, type WrittenResult } from '../../graphql/execution/written-result.ts';
import type { Outcome } from '../metrics/metrics.ts';

/** One update of a subscription, encoded once for all subscribers that receive it. */
export type EncodedUpdate = {
  readonly outcome: Outcome;
  readonly errors: readonly GraphQLError[] | undefined;
  /** The height after which a subscriber resumes; `undefined` if it would start anew. */
  readonly height: BeaconHeight | undefined;
  /** The result as JSON on one line: the data of a server-sent event. */
  toText(): string;
  /** The result as a transport encodes it for an operation; the same bytes for the same id, if that was the last one. */
  encoded(id: string, encode: (id: string, json: readonly Buffer[]) => Buffer): Buffer;
};

/** Encodes an update. @throws if a value cannot be encoded */
export function encodeUpdate(result: WrittenResult, height: BeaconHeight | undefined): EncodedUpdate {
  const json = toBytes(result.toJson());
  let last: { readonly id: string; readonly bytes: Buffer } | undefined;

  return {
    outcome: outcomeOf(result),
    errors: result.errors,
    height,
    toText: () => Buffer.concat(json).toString(),
    encoded(id, encode) {
      // Clients that count their operations all have the same ids.
      if (last?.id !== id) last = { id, bytes: encode(id, json) };
      return last.bytes;
    },
  };
}

/** The outcome of an execution, for the metrics. */
export function outcomeOf(result: WrittenResult): Outcome {
  if (result.errors === undefined || result.errors.length === 0) return 'whole';
  return hasData(result) ? 'partial' : 'failed';
}
