import type { GraphQLError } from 'graphql';
import { concatTexts, WrittenResult } from '../../graphql/execution/written-result.ts';
import { createTurnQueue } from '../../turns/turns.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Entry } from '../requests/parameters.ts';
import { refusal } from '../requests/refusal.ts';
import { EncodedResponse } from './encoded-response.ts';
import { type AccessDetails, codesOf, summarizeErrors } from './log-details.ts';
import type { Pipeline } from './pipeline.ts';
import { type Client, isSubscription, type PreparedOperation } from './prepared-operation.ts';

/** The results of the operations of an array, in its order, as one response, and what the access log says about them. */
type ArrayResponse = { readonly response: EncodedResponse; readonly access: AccessDetails };

/** Executes the operations of an array, which share a limit of values. */
export type RespondToArray = ReturnType<typeof createArrayResponses>;

/** Creates the function that responds to arrays. @param maxValues maximum number of values in a response */
export function createArrayResponses(pipeline: Pipeline, maxValues: number, metrics: Metrics) {
  /** @param clientOf the client of each operation, by its index */
  return async (entries: readonly Entry[], clientOf: (index: number) => Client): Promise<ArrayResponse> => {
    let values = 0;
    function check(prepared: PreparedOperation): GraphQLError | undefined {
      const { cost } = prepared;
      if (isSubscription(prepared)) return pipeline.admit(prepared) ?? IN_AN_ARRAY;
      // An operation that exceeds the limit by itself has an error of its own, and adds no values.
      if (cost.values > maxValues) return undefined;
      const sum = Math.ceil(values + cost.values);
      if (sum <= maxValues) {
        values = sum;
        return undefined;
      }
      metrics.recordRefusedOperation();
      const message = `The operations of the array have too many values. The maximum is ${maxValues}.`;
      return refusal('QUERY_TOO_COMPLEX', message);
    }

    // The operations of an array have a turn of the event loop each: together they would block it.
    const takeTurn = createTurnQueue();
    const responses = await Promise.all(
      entries.map(async (sent, index) => {
        await takeTurn();
        const client = clientOf(index);
        // `check` refuses subscriptions.
        const response = (await pipeline.respond(sent, client, check)) as EncodedResponse;
        client.span?.end({ codes: codesOf(response.errors) });
        metrics.recordErrors(response.errors);
        return response;
      }),
    );
    return joined(responses);
  };
}

const IN_AN_ARRAY = refusal('BAD_USER_INPUT', 'An array of operations cannot contain a subscription.');

function joined(responses: readonly EncodedResponse[]): ArrayResponse {
  const points = responses.reduce((sum, { facts }) => sum + facts.points, 0);
  const heights = responses.flatMap(({ facts }) => facts.height ?? []);
  const height = heights.length === 0 ? undefined : Math.max(...heights);
  const json = concatTexts([...responses.flatMap(({ body }, index) => [index === 0 ? '[' : ',', body]), ']']);
  const summaries = responses.flatMap(({ errors, isExecuted }) => summarizeErrors(errors, isExecuted) ?? []);
  const codes = [...new Set(summaries.flatMap((summary) => summary.codes))];
  const errors = codes.length > 0 ? { codes, isNotable: summaries.some(({ isNotable }) => isNotable) } : undefined;
  return {
    response: new EncodedResponse(new WrittenResult(undefined), { points, values: 0, height }, json),
    access: { height, cost: points, errors },
  };
}
