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

/** The version of data that does not change. */
const SAME = {};

/** The function that sends equal requests, each of which resolves when it has its response, and what was sent. */
function createEqual(execute: () => Promise<EncodedResponse | undefined>, dataVersion = () => SAME) {
  const cache = createResponseCache({ maxBytes: 0, now: () => 0 });
  const sent: string[] = [];
  const respond = createQueryResponses({ cache, dataVersion, metrics: createMetrics('test') })<
    { readonly key: string; readonly account: Account },
    undefined
  >({
    execute,
    send(_, response, from) {
      sent.push(`${from} ${response.errors?.[0]?.extensions['code'] ?? 'whole'}`);
    },
    refuse: () => expect.unreachable(),
  });
  return { request: () => respond({ key: 'a query', account: new Account(undefined, undefined, 'http') }), sent };
}

/** Sends equal requests at once. @returns what is sent, and resolves when all have been sent */
function startEqual(requests: number, ...options: Parameters<typeof createEqual>) {
  const { request, sent } = createEqual(...options);
  return Promise.all(Array.from({ length: requests }, request)).then(() => sent);
}

/** The same. @param results of the executions, in their order */
async function sendEqual(requests: number, results: readonly (EncodedResponse | undefined)[]) {
  const left = [...results];
  const sent = await startEqual(requests, async () => left.shift());
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

test('requests do not share an execution that started before the data changed', async () => {
  const versions = [{}, {}];
  const execution = Promise.withResolvers<EncodedResponse>();
  let executions = 0;
  const sending = startEqual(
    2,
    () => {
      executions += 1;
      return execution.promise;
    },
    // The first version is that of the cache, and of the first request.
    () => versions[Math.min(executions, 1)] ?? {},
  );
  expect(executions).toBe(2);
  execution.resolve(WHOLE);
  expect(await sending).toEqual(['executed whole', 'executed whole']);
});

test('requests share the newest execution, also when one that started before has ended', async () => {
  const executions: PromiseWithResolvers<EncodedResponse>[] = [];
  let version = {};
  const requestOnce = createEqual(
    () => {
      const execution = Promise.withResolvers<EncodedResponse>();
      executions.push(execution);
      return execution.promise;
    },
    () => version,
  );
  const first = requestOnce.request();
  version = {};
  const second = requestOnce.request();
  executions[0]?.resolve(WHOLE);
  await first;
  const third = requestOnce.request();
  executions.at(-1)?.resolve(WHOLE);
  await Promise.all([second, third]);
  expect(requestOnce.sent).toEqual(['executed whole', 'executed whole', 'coalesced whole']);
});

test('an error of the whole history is given to all', async () => {
  const { message } = new HistoryUnavailableError();
  const sent = await sendEqual(2, [withError('HISTORY_UNAVAILABLE', message)]);
  expect(sent).toEqual(['executed HISTORY_UNAVAILABLE', 'coalesced HISTORY_UNAVAILABLE']);
});

test('if the first of equal requests is refused, the others are executed at the same time', async () => {
  const executions: PromiseWithResolvers<EncodedResponse>[] = [];
  const sending = startEqual(3, () => {
    const execution = Promise.withResolvers<EncodedResponse>();
    executions.push(execution);
    return execution.promise;
  });
  executions[0]?.resolve(refusedResponse(errorOf('RATE_LIMITED')));
  await expect.poll(() => executions.length).toBe(3);
  for (const { resolve } of executions) resolve(WHOLE);
  expect((await sending).sort()).toEqual(['executed RATE_LIMITED', 'executed whole', 'executed whole']);
});

test('equal subscriptions are executed by themselves', async () => {
  expect(await sendEqual(3, [undefined, undefined, undefined])).toEqual([]);
});
