import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { HistoryUnavailableError } from '../../../src/errors.ts';
import { WrittenResult } from '../../../src/graphql/execution/written-result.ts';
import { Account } from '../../../src/server/clients/rate-limits.ts';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { EncodedResponse, refusedResponse } from '../../../src/server/operations/encoded-response.ts';
import { createQueryResponses } from '../../../src/server/operations/query-responses.ts';
import { createResponseCache } from '../../../src/server/operations/response-cache.ts';

const WHOLE = new EncodedResponse(new WrittenResult('{"a":1}'));
const errorOf = (code: string, message = 'not now') => new GraphQLError(message, { extensions: { code } });
const withError = (...error: Parameters<typeof errorOf>) =>
  new EncodedResponse(new WrittenResult('{"a":null}', [errorOf(...error)]));

/** Sends equal requests at once. @param results of the executions, in their order */
async function sendEqual(requests: number, results: readonly (EncodedResponse | undefined)[]) {
  const version = {};
  const dataVersion = () => version;
  const cache = createResponseCache({ maxBytes: 0, dataVersion, now: () => 0 });
  const left = [...results];
  const sent: string[] = [];
  const respond = createQueryResponses({ cache, dataVersion, metrics: createMetrics('test') })<
    { readonly key: string; readonly account: Account },
    undefined
  >({
    execute: async () => left.shift(),
    send(_, response, from) {
      sent.push(`${from} ${response.errors?.[0]?.extensions['code'] ?? 'whole'}`);
    },
    refuse: () => expect.unreachable(),
  });
  const request = () => respond({ key: 'a query', account: new Account(undefined, undefined, 'http') });
  await Promise.all(Array.from({ length: requests }, request));
  expect(left).toEqual([]);
  return sent;
}

test('equal requests at the same time share one execution, with its errors of upstreams', async () => {
  expect(await sendEqual(3, [WHOLE])).toEqual(['executed whole', 'coalesced whole', 'coalesced whole']);
  const unreachable = withError('UPSTREAM_UNREACHABLE');
  expect(await sendEqual(2, [unreachable])).toEqual([
    'executed UPSTREAM_UNREACHABLE',
    'coalesced UPSTREAM_UNREACHABLE',
  ]);
});

test.each([
  ['UPSTREAM_BUSY', 'not now'],
  ['HISTORY_UNAVAILABLE', new HistoryUnavailableError({ isBusy: true }).message],
])('an error %s for the share of one client is not given to others', async (code, message) => {
  expect(await sendEqual(2, [withError(code, message), WHOLE])).toEqual([`executed ${code}`, 'executed whole']);
});

test('an error of the whole history is given to all', async () => {
  const { message } = new HistoryUnavailableError();
  const sent = await sendEqual(2, [withError('HISTORY_UNAVAILABLE', message)]);
  expect(sent).toEqual(['executed HISTORY_UNAVAILABLE', 'coalesced HISTORY_UNAVAILABLE']);
});

test('if the first of equal requests is refused, one of the others executes the operation for all', async () => {
  const refused = refusedResponse(errorOf('RATE_LIMITED'));
  const sent = await sendEqual(4, [refused, WHOLE]);
  expect(sent).toEqual(['executed RATE_LIMITED', 'executed whole', 'coalesced whole', 'coalesced whole']);
});

test('equal subscriptions are executed by themselves', async () => {
  expect(await sendEqual(3, [undefined, undefined, undefined])).toEqual([]);
});
