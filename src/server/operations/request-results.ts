import { GraphQLError } from 'graphql';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { concatTexts, type JsonText, WrittenResult } from '../../graphql/execution/written-result.ts';
import type { Subscribe } from '../../live/broadcast/broadcast.ts';
import { createTurnQueue } from '../../live/broadcast/turn-limit.ts';
import { inSpan } from '../../tracing/tracing.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { MIN_HEIGHT_HEADER } from '../requests/headers.ts';
import type { Entry } from '../requests/parameters.ts';
import { refusal } from '../requests/refusal.ts';
import type { EncodedUpdate } from './encoded-update.ts';
import { type AccessDetails, codesOf, summarizeErrors } from './log-details.ts';
import type { MinimumHeights } from './minimum-heights.ts';
import type { Pipeline } from './pipeline.ts';
import { type Client, isSubscription, type Prepared } from './prepared-operation.ts';

/** The result of an operation, or the updates of a subscription. */
export type RequestResult = {
  readonly result: WrittenResult | Subscribe<EncodedUpdate>;
  /** The beacon height that the data describes, if it depends on a head. */
  readonly height?: BeaconHeight | undefined;
  /** Points that the operation costs; 0 if it could not be prepared. */
  readonly points: number;
};

/** Takes the operations of a request through the pipeline, whose results are not cached. */
export type RequestResults = {
  /** Executes an operation. @param minimum the minimum height that the request names, unchecked */
  one(sent: Entry, client: Client, minimum: unknown): Promise<RequestResult>;
  /** Executes the operations of an array, which share a limit of values. @param clientOf the client of each, by its index */
  array(entries: readonly Entry[], clientOf: (index: number) => Client, minimum: unknown): Promise<ArrayResults>;
};

/** The results of an array of operations, in its order. None of them is a subscription. */
export type ArrayResults = readonly (RequestResult & { readonly result: WrittenResult })[];

/** What they need. */
type RequestResultsOptions = {
  readonly pipeline: Pipeline;
  readonly minimumHeights: Pick<MinimumHeights, 'reachSent'>;
  /** Maximum number of values in a response. */
  readonly maxValues: number;
  readonly metrics: Pick<Metrics, 'recordRefusedOperation'>;
};

/** Creates the results. */
export function createRequestResults(options: RequestResultsOptions): RequestResults {
  const { pipeline, minimumHeights, maxValues, metrics } = options;

  async function prepare(sent: Entry, client: Client, minimum: unknown): Promise<Prepared> {
    if (sent instanceof GraphQLError) return { errors: [sent] };
    const refused = await minimumHeights.reachSent(minimum, MIN_HEIGHT_HEADER, client);
    return refused === undefined ? pipeline.prepare(sent, client) : { errors: [refused] };
  }

  async function run(prepared: Prepared): Promise<RequestResult> {
    const points = prepared.errors === undefined ? prepared.points : 0;
    if (!isSubscription(prepared)) return { ...(await pipeline.run(prepared)), points };
    const refused = pipeline.admit(prepared);
    return { result: refused === undefined ? await pipeline.subscribe(prepared) : failed(refused), points };
  }

  async function one(
    sent: Entry,
    client: Client,
    minimum: unknown,
    refuse: (prepared: Prepared) => GraphQLError | undefined = () => undefined,
  ): Promise<RequestResult> {
    const { span } = client;
    const done = await inSpan(span, async () => {
      const prepared = await prepare(sent, client, minimum);
      const refused = refuse(prepared);
      return refused === undefined ? run(prepared) : { result: failed(refused), points: 0 };
    });
    span?.end({ codes: isWritten(done.result) ? codesOf(done.result.errors) : [] });
    return done;
  }

  return {
    one: (sent, client, minimum) => one(sent, client, minimum),
    async array(entries, clientOf, minimum) {
      let values = 0;
      const refuse = (prepared: Prepared) => {
        if (prepared.errors !== undefined) return undefined;
        const sum = Math.ceil(values + prepared.cost.values);
        // An operation that exceeds a limit by itself has an error of its own.
        if (values > 0 && sum > maxValues) {
          metrics.recordRefusedOperation();
          const message = `The operations of the array have too many values. The maximum is ${maxValues}.`;
          return refusal('QUERY_TOO_COMPLEX', message);
        }
        values = sum;
        return undefined;
      };
      // The operations of an array have a turn of the event loop each: together they would block it.
      const takeTurn = createTurnQueue();
      const results = await Promise.all(
        entries.map(async (sent, index) => {
          await takeTurn();
          return one(sent, clientOf(index), minimum, refuse);
        }),
      );
      return results.map((each) => ({ ...each, result: isWritten(each.result) ? each.result : failed(IN_AN_ARRAY) }));
    },
  };
}

function failed(error: GraphQLError): WrittenResult {
  return new WrittenResult(undefined, [error]);
}

const IN_AN_ARRAY = new GraphQLError('An array of operations cannot contain a subscription.', {
  extensions: { code: 'BAD_USER_INPUT' },
});

function isWritten(result: RequestResult['result']): result is WrittenResult {
  return result instanceof WrittenResult;
}

/** What the access log says about the operations of a request: the height of the first, and the sum of their costs. */
export function accessOf(results: readonly RequestResult[]): AccessDetails {
  const summaries = results.flatMap(({ result }) =>
    isWritten(result) ? (summarizeErrors(result.errors, result.text !== undefined) ?? []) : [],
  );
  const codes = [...new Set(summaries.flatMap((summary) => summary.codes))];
  const isNotable = summaries.some((summary) => summary.isNotable);
  return {
    height: results.find(({ height }) => height !== undefined)?.height,
    cost: results.reduce((sum, { points }) => sum + points, 0),
    errors: codes.length > 0 ? { codes, isNotable } : undefined,
  };
}

/** The highest height that results describe. */
export function highestHeight(results: readonly RequestResult[]): BeaconHeight | undefined {
  const heights = results.flatMap(({ height }) => height ?? []);
  return heights.length === 0 ? undefined : Math.max(...heights);
}

/** The JSON of an array of results. */
export function toJsonArray(results: ArrayResults): JsonText {
  return concatTexts([...results.flatMap(({ result }, index) => [index === 0 ? '[' : ',', result.toJson()]), ']']);
}
