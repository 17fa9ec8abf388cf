import type { GraphQLError } from 'graphql';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { type JsonText, toBytes } from '../../graphql/execution/json-text.ts';
import { WrittenResult } from '../../graphql/execution/written-result.ts';
import { summarizeErrors } from './log-details.ts';
import type { Executed } from './pipeline.ts';

/**
 * The JSON of a result as bytes, one piece after another. A short one is a string with one character for each byte (Latin-1),
 * which Node sends together with the headers.
 */
type ResponseBody = readonly [string] | readonly Buffer[];

/** The response to a query, for every transport. */
export class EncodedResponse {
  readonly body: ResponseBody;
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
  /** The same as the value of a header. */
  readonly heightText: string | undefined;
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
    json = result.toJson(),
  ) {
    this.body = toBody(json);
    this.bytes = lengthOf(this.body);
    this.points = points;
    this.values = values;
    this.dependencies = result.errors === undefined ? dependencies : undefined;
    this.errors = result.errors;
    this.height = height;
    this.heightText = height === undefined ? undefined : String(height);
    this.isExecuted = result.text !== undefined;
    this.operationName = operationName;
    this.persistedName = persistedName;
  }

  /** What the access log says about it. */
  get accessDetails() {
    return { errors: summarizeErrors(this.errors, this.isExecuted), height: this.height, cost: this.points };
  }
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

/** A longer body is sent faster as a separate buffer. */
const MAX_STRING_BYTES = 8_192;

/** The pieces of a shorter body are copied into one buffer, which is sent faster. */
const MAX_COPIED_BYTES = 1_000_000;

function lengthOf(body: ResponseBody): number {
  return body.reduce((sum: number, { length }) => sum + length, 0);
}

function toBody(text: JsonText): ResponseBody {
  if (typeof text !== 'string') {
    const pieces = toBytes(text);
    return lengthOf(pieces) > MAX_COPIED_BYTES ? pieces : [Buffer.concat(pieces)];
  }
  const body = text.length > MAX_STRING_BYTES ? undefined : toLatin1(text);
  return body === undefined || body.length > MAX_STRING_BYTES ? [Buffer.from(text)] : [body];
}

/** The bytes of a text in UTF-8, as a string with one character for each byte. */
export function toLatin1(text: string): string {
  // Most texts are ASCII, which already has one character for each byte.
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1');
}
