import type { GraphQLError } from 'graphql';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { type JsonText, toBytes, WrittenResult } from '../../graphql/execution/written-result.ts';
import { summarizeErrors } from './log-details.ts';
import type { Executed } from './prepared-operation.ts';

/** The response to a query, for every transport. */
export class EncodedResponse {
  /** The JSON of the result: bytes, one piece after another, or a short text, which Node sends together with the headers. */
  readonly body: readonly [string] | readonly Buffer[];
  /** The length of the body. */
  readonly bytes: number;
  /** Points that the operation costs, which an equal request takes from the rate limit of its client. */
  readonly points: number;
  /** About how many values the data has. */
  readonly values: number;
  /** What the data depends on; `undefined` if it must not be cached. */
  readonly dependencies: Executed['dependencies'];
  readonly errors: readonly GraphQLError[] | undefined;
  /** The beacon height that the data describes, if it depends on a head. */
  readonly height: BeaconHeight | undefined;
  /** Whether the operation was executed, so that an equal request gets the same response. */
  readonly isExecuted: boolean;
  /** The name of the operation, for the spans of equal requests. */
  readonly operationName: string | undefined;
  /** The name of an operation of a persisted document. */
  readonly persistedName: string | undefined;
  /** Its entity tag in each media type, from the first time that it is sent with one. */
  etags: Record<string, string> | undefined = undefined;

  constructor(
    { result, dependencies, height, operationName, persistedName }: Executed,
    points: number,
    values: number,
  ) {
    this.body = toBody(result.toJson());
    this.bytes = this.body.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
    this.points = points;
    this.values = values;
    this.dependencies = result.errors === undefined ? dependencies : undefined;
    this.errors = result.errors;
    this.height = height;
    this.isExecuted = result.text !== undefined;
    this.operationName = operationName;
    this.persistedName = persistedName;
  }

  /** What the access log says about it. */
  get accessDetails() {
    return { errors: summarizeErrors(this.errors, this.isExecuted), height: this.height, cost: this.points };
  }
}

/** Maximum length of a text that is sent as it is. Encoding a longer one each time takes longer than a second buffer to write. */
const MAX_TEXT_LENGTH = 8_192;

function toBody(json: JsonText): EncodedResponse['body'] {
  return typeof json === 'string' && json.length <= MAX_TEXT_LENGTH ? [json] : toBytes(json);
}

/** Encodes a result. One that cannot be encoded becomes an internal error. */
export function encodeResponse(
  executed: Executed,
  points: number,
  values: number,
  maskError: (error: unknown) => GraphQLError,
): EncodedResponse {
  try {
    return new EncodedResponse(executed, points, values);
  } catch (error) {
    return new EncodedResponse({ result: new WrittenResult(undefined, [maskError(error)]) }, points, values);
  }
}
