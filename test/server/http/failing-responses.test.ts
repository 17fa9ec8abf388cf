import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createErrorMask } from '../../../src/graphql/errors.ts';
import type { Execution } from '../../../src/server/http/execution.ts';
import { createGraphqlHandler } from '../../../src/server/http/graphql-handler.ts';
import { createHttpCaching } from '../../../src/server/http/http-caching.ts';
import { createOpenResponses } from '../../../src/server/http/open-responses.ts';
import { createRequestIds } from '../../../src/server/http/request-id.ts';
import { createResponseCache } from '../../../src/server/http/response-cache.ts';
import { createResponseWriter } from '../../../src/server/http/response-writer.ts';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { createAdmission } from '../../../src/server/operations/admission.ts';
import { createPersistedQueries } from '../../../src/server/operations/persisted-queries.ts';
import type { Yoga } from '../../../src/server/yoga/yoga.ts';
import { DEFAULT_LIMITS } from '../../support/limits.ts';

const opened: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(opened.splice(0).map((close) => close())));

/** The door alone, in front of what executes. */
async function openDoor(execution: Execution) {
  const logged: unknown[] = [];
  const loggedFor: unknown[] = [];
  const generation = () => logged;
  const metrics = createMetrics('test');
  const requestIds = createRequestIds();
  const door = createGraphqlHandler({
    // No request of these tests is for Yoga's own door.
    yoga: undefined as unknown as Yoga,
    execution,
    persisted: createPersistedQueries(),
    kept: createResponseCache({ maxBytes: 1_000_000, generation, now: () => 0 }),
    generation,
    accessLog: { isAll: false },
    replies: createResponseWriter({
      caching: createHttpCaching(() => 0),
      rates: undefined,
      answers: createOpenResponses(),
      corsOrigins: [],
      isSandbox: false,
      isLast: () => false,
    }),
    admission: createAdmission(DEFAULT_LIMITS, undefined),
    connections: undefined,
    metrics,
    requestIds,
    maskError: createErrorMask({
      internal(error) {
        logged.push(error);
        loggedFor.push(requestIds.current());
      },
    }),
    corsOrigins: [],
    maxBodyBytes: DEFAULT_LIMITS.maxBodyBytes,
  });
  const counts = metrics.endpointMetrics('graphql');
  const server = createServer((request, response) =>
    door({ request, response, id: requestIds.of(request), begun: 0, counts }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(async () => server[Symbol.asyncDispose]());
  const { port } = server.address() as AddressInfo;
  const ask = (query = '{ beaconHeight }') =>
    fetch(`http://127.0.0.1:${port}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
  return { ask, logged, loggedFor };
}

test('an answer that cannot be made is a 500 for all who wait for it, and told to the log', async () => {
  const error = new Error('This cannot be written.');
  const begun = Promise.withResolvers<void>();
  const failing = Promise.withResolvers<never>();
  const { ask, logged } = await openDoor({
    answer() {
      begun.resolve();
      return failing.promise;
    },
  });
  const first = ask();
  await begun.promise;
  const second = ask();
  failing.reject(error);
  for (const response of await Promise.all([first, second])) {
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      errors: [
        { message: 'An internal error occurred in the gateway.', extensions: { code: 'INTERNAL_SERVER_ERROR' } },
      ],
    });
  }
  expect(new Set(logged)).toEqual(new Set([error]));
});

test('an answer that cannot be sent is a 500, told to the log, and keeps no other from going', async () => {
  const answers = [[], ['x-broken', 'two\nlines'], []].map((headers) => ({
    status: 200,
    headers,
    body: '{"data":null}',
    points: 0,
    dependencies: undefined,
  }));
  const allCame = Promise.withResolvers<void>();
  const { ask, logged, loggedFor } = await openDoor({
    async answer() {
      const mine = answers.shift() ?? expect.unreachable();
      if (answers.length === 0) allCame.resolve();
      await allCame.promise;
      return mine;
    },
  });
  const responses = await Promise.all(
    ['{ a: beaconHeight }', '{ b: beaconHeight }', '{ c: beaconHeight }'].map((query) => ask(query)),
  );
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 200, 500]);
  const broken = responses.find(({ status }) => status === 500);
  expect(loggedFor).toEqual([broken?.headers.get('x-request-id')]);
  expect(logged).toEqual([expect.objectContaining({ code: 'ERR_INVALID_CHAR' })]);
});
