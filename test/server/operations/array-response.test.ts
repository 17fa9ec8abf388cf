import { expect, test } from 'vitest';
import { WrittenResult } from '../../../src/graphql/execution/written-result.ts';
import { createMetrics } from '../../../src/server/metrics/metrics.ts';
import { createArrayResponses } from '../../../src/server/operations/array-response.ts';
import { EncodedResponse } from '../../../src/server/operations/encoded-response.ts';
import type { Pipeline } from '../../../src/server/operations/pipeline.ts';
import { testClient } from '../../support/pipeline.ts';
import { mostInOneTurn } from '../../support/turns.ts';

test('each operation of an array has a turn of the event loop, and the response has the highest height and all points', async () => {
  const operations = [7, 9, 8, 8].map((height) => ({ height, started: Promise.withResolvers<void>() }));
  const left = [...operations];
  function respond(): EncodedResponse {
    const { height, started } = left.shift() ?? expect.unreachable();
    started.resolve();
    return new EncodedResponse(new WrittenResult(String(height)), { points: 2, values: 1, height });
  }
  const respondToArray = createArrayResponses({ respond } as unknown as Pipeline, 10, createMetrics('test'));
  const most = mostInOneTurn(operations.map(({ started }) => started.promise));
  const sent = operations.map(() => ({ query: '{ beaconHeight }' }));
  const { response, access } = await respondToArray(sent, testClient);
  expect(access).toEqual({ height: 9, cost: 8, errors: undefined });
  expect(response.facts).toMatchObject({ height: 9, points: 8 });
  expect(await most).toBeLessThanOrEqual(2);
});
