import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GraphQLError } from 'graphql';
import { afterEach, expect, test } from 'vitest';
import { createErrorMask } from '../../../src/graphql/errors.ts';
import { WrittenResult } from '../../../src/graphql/execution/written-result.ts';
import { createClientAddresses } from '../../../src/server/clients/client-address.ts';
import { createGraphqlHandler } from '../../../src/server/http/graphql-handler.ts';
import { createOpenResponses } from '../../../src/server/http/open-responses.ts';
import { createResponseWriter } from '../../../src/server/http/response-writer.ts';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { EncodedResponse } from '../../../src/server/operations/encoded-response.ts';
import { createPersistedQueries } from '../../../src/server/operations/persisted-queries.ts';
import type { Pipeline } from '../../../src/server/operations/pipeline.ts';
import { createQueryResponses } from '../../../src/server/operations/query-responses.ts';
import { createResponseCache, type ResponseCache } from '../../../src/server/operations/response-cache.ts';
import { createRequestIds } from '../../../src/server/requests/http-exchange.ts';
import { DEFAULT_LIMITS } from '../../support/limits.ts';

const opened: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(opened.splice(0).map((close) => close())));

/** The handler with a pipeline whose results the test chooses. */
async function serveHandler(respond: () => Promise<EncodedResponse>, broken: Partial<ResponseCache> = {}) {
  const logged: unknown[] = [];
  const loggedFor: unknown[] = [];
  const dataVersion = () => logged;
  const pipeline = { respond } as unknown as Pipeline;
  const metrics = createMetrics('test');
  const requestIds = createRequestIds();
  const cache = {
    ...createResponseCache({ maxBytes: 1_000_000, now: () => 0 }),
    ...broken,
  };
  const options = {
    pipeline,
    metrics,
    keepAliveMs: 60_000,
    internal: (error: unknown) => logged.push(error),
    persisted: createPersistedQueries({ documents: new Map(), isOnly: false }),
    respondOver: createQueryResponses({ cache, dataVersion, metrics }),
    minimumHeights: { reach: () => undefined },
    clients: createClientAddresses([]),
    rates: undefined,
    accessLog: { isAll: false },
    writer: createResponseWriter({
      now: () => 0,
      rates: undefined,
      responses: createOpenResponses({ metrics, isLast: () => false }),
      metrics,
      corsOrigins: [],
      isSandbox: false,
    }),
    connections: undefined,
    now: () => 0,
    isSandbox: false,
    requestIds,
    maskError: createErrorMask((error) => {
      logged.push(error);
      loggedFor.push(requestIds.current());
    }),
    corsOrigins: [],
    maxBodyBytes: DEFAULT_LIMITS.maxBodyBytes,
  };
  const handler = createGraphqlHandler({ ...options, respondByYoga: () => expect.unreachable() });
  const server = createServer((request, response) =>
    handler({
      request,
      response,
      id: requestIds.of(request),
      startedAt: 0,
      endpoint: 'graphql',
      sentBefore: undefined,
    }),
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

test('a query that fails internally is a 500 for all clients that wait for it, and logged', async () => {
  const error = new Error('This cannot be written.');
  const begun = Promise.withResolvers<void>();
  const failing = Promise.withResolvers<never>();
  const { ask, logged } = await serveHandler(() => {
    begun.resolve();
    return failing.promise;
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

test('a request for which the response cache fails is a 500, and logged', async () => {
  const error = new Error('The version is unknown.');
  const { ask, logged } = await serveHandler(() => expect.unreachable(), {
    get() {
      throw error;
    },
  });
  const response = await ask();
  expect(response.status).toBe(500);
  expect(logged).toEqual([error]);
});

test('a response that cannot be sent is a 500, is logged, and delays no other', async () => {
  const http = { status: 200, headers: { 'x-broken': 'two\nlines' } };
  const broken = new WrittenResult(undefined, [new GraphQLError('This cannot be sent.', { extensions: { http } })]);
  const results = [new WrittenResult('null'), broken, new WrittenResult('null')];
  const allCame = Promise.withResolvers<void>();
  const { ask, logged, loggedFor } = await serveHandler(async () => {
    const result = results.shift() ?? expect.unreachable();
    if (results.length === 0) allCame.resolve();
    await allCame.promise;
    return new EncodedResponse(result);
  });
  const responses = await Promise.all(
    ['{ a: beaconHeight }', '{ b: beaconHeight }', '{ c: beaconHeight }'].map((query) => ask(query)),
  );
  expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 200, 500]);
  const failed = responses.find(({ status }) => status === 500);
  expect(loggedFor).toEqual([failed?.headers.get('x-request-id')]);
  expect(logged).toEqual([expect.objectContaining({ code: 'ERR_INVALID_CHAR' })]);
});
