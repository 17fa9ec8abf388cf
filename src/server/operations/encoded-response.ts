import type { GraphQLError } from 'graphql';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { hasData, type JsonText, toBytes, WrittenResult } from '../../graphql/execution/written-result.ts';
import type { Subscribe } from '../../live/broadcast/broadcast.ts';
import type { Dependencies } from '../../loaders/dependencies.ts';
import type { OperationOutcome } from '../metrics/metrics.ts';
import { type AccessDetails, summarizeErrors } from './log-details.ts';

/** What is known of a response beside its result. */
type ResponseFacts = {
  /** Points that the operation costs, which an equal request takes from the rate limit of its client. */
  readonly points: number;
  /** About how many values the data has. */
  readonly values: number;
  /** What the data depends on; `undefined` if it must not be cached. */
  readonly dependencies?: Dependencies | undefined;
  /** The beacon height that the data describes, if it depends on a head. */
  readonly height?: BeaconHeight | undefined;
  /** The name of the operation, for the spans of equal requests. */
  readonly operationName?: string | undefined;
  /** The name of an operation of a persisted document, or the id of the document if it has none. */
  readonly persistedName?: string | undefined;
};

/** The response to a query, or the errors of a subscription that cannot start, for every transport. */
export class EncodedResponse {
  /** The JSON of the result: bytes, one piece after another, or a short text, which Node sends together with the headers. */
  readonly body: readonly [string] | readonly Buffer[];
  /** The length of the body. */
  readonly bytes: number;
  readonly errors: readonly GraphQLError[] | undefined;
  /** Whether the operation was executed, so that an equal request gets the same response. */
  readonly isExecuted: boolean;
  /** Whether there is data other than null. */
  readonly hasData: boolean;
  readonly facts: ResponseFacts;
  /** Its entity tag in each media type, from the first time that it is sent with one. */
  etags: Record<string, string> | undefined = undefined;

  constructor(result: WrittenResult, facts: ResponseFacts = { points: 0, values: 0 }, json = result.toJson()) {
    this.body = toBody(json);
    this.bytes = this.body.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
    this.errors = result.errors;
    this.isExecuted = result.text !== undefined;
    this.hasData = hasData(result);
    this.facts = facts;
  }

  /** What the access log says about it. */
  get accessDetails(): AccessDetails {
    const { height, points: cost } = this.facts;
    return { errors: summarizeErrors(this.errors, this.isExecuted), height, cost };
  }
}

/** The response to an operation that is not executed. */
export function refusedResponse(...errors: readonly GraphQLError[]): EncodedResponse {
  return new EncodedResponse(new WrittenResult(undefined, errors));
}

/** Maximum length of a text that is sent as it is. Encoding a longer one each time takes longer than a second buffer to write. */
const MAX_TEXT_LENGTH = 8_192;

function toBody(json: JsonText): EncodedResponse['body'] {
  return typeof json === 'string' && json.length <= MAX_TEXT_LENGTH ? [json] : toBytes(json);
}

/** A subscription that has started. */
export type StartedSubscription = {
  readonly updates: Subscribe<EncodedUpdate>;
  /** Points that it costs. */
  readonly points: number;
};

/** One update of a subscription, encoded once for all subscribers that receive it. */
export type EncodedUpdate = ReturnType<typeof encodeUpdate>;

/** Encodes the JSON of an update, which each transport puts into its messages. */
export function encodeUpdate(result: WrittenResult, height: BeaconHeight | undefined) {
  const json = toBytes(result.toJson());
  let last: { readonly id: string; readonly bytes: Buffer } | undefined;
  let text: string | undefined;

  return {
    outcome: outcomeOf(result),
    errors: result.errors,
    /** The height after which a subscriber resumes; `undefined` if it would start anew. */
    height,
    /** The result as JSON on one line: the data of a server-sent event. */
    toText: () => (text ??= Buffer.concat(json).toString()),
    /** The result as a transport encodes it for an operation; the same bytes for the same id, if that was the last one. */
    encoded(id: string, encode: (id: string, json: readonly Buffer[]) => Buffer): Buffer {
      // Clients that count their operations all have the same ids.
      if (last?.id !== id) last = { id, bytes: encode(id, json) };
      return last.bytes;
    },
  };
}

/** The outcome of an execution, for the metrics. */
export function outcomeOf(result: WrittenResult): OperationOutcome {
  if (result.errors === undefined || result.errors.length === 0) return 'whole';
  return hasData(result) ? 'partial' : 'failed';
}
