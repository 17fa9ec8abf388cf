import type { FormattedExecutionResult } from 'graphql-ws';
import { expect, test } from 'vitest';
import { readEventStream } from '../../explorer/src/client/read-event-stream.ts';
import { resumingPayload } from '../../explorer/src/client/resuming.ts';
import { serveGatewayForTest } from '../support/served-gateway.ts';

const PRICES = 'subscription ($afterHeight: BeaconHeight) { prices(afterHeight: $afterHeight) { beaconHeight } }';

/** Follows the prices until so many updates have arrived. @returns their heights */
async function follow(url: string, afterHeight: number | undefined, count: number, onUpdate: () => unknown) {
  const abort = new AbortController();
  const heights: unknown[] = [];
  const { payload, observe } = resumingPayload(PRICES, afterHeight === undefined ? {} : { afterHeight });
  let opened = 0;
  const ended = readEventStream(url, payload, {
    signal: abort.signal,
    onOpen: () => {
      opened += 1;
    },
    onBytes() {},
    onUpdate({ data }) {
      observe(data);
      heights.push((data as { prices: { beaconHeight: number } }).prices.beaconHeight);
      if (heights.length === count) abort.abort();
      else onUpdate();
    },
  });
  await expect(ended).rejects.toThrow('abort');
  expect(opened).toBe(1);
  return heights;
}

test('updates arrive, and a stream resumes after a height', async () => {
  const { url, advance, sandbox } = await serveGatewayForTest();
  const start = sandbox.chain.tip.height;
  expect(await follow(url, undefined, 2, () => advance(1))).toEqual([start, start + 1]);
  await advance(1);
  await advance(1);
  expect(await follow(url, start + 1, 2, () => {})).toEqual([start + 2, start + 3]);
});

/** Reads a subscription that the gateway ends. */
async function readEnded(url: string, query: string) {
  const updates: FormattedExecutionResult[] = [];
  const signal = AbortSignal.timeout(60_000);
  const onUpdate = (update: FormattedExecutionResult) => void updates.push(update);
  const refusal = await readEventStream(url, { query }, { signal, onOpen() {}, onBytes() {}, onUpdate });
  const codes = (errors: unknown) =>
    (errors as { extensions: { code: string } }[] | undefined)?.map((e) => e.extensions.code);
  return { updates: updates.map(({ errors }) => codes(errors)), refusal: codes(refusal) };
}

test('errors arrive, whether the gateway sends them as an event or as the response', async () => {
  const { url } = await serveGatewayForTest({ config: { rateLimitPerSecond: 1, rateLimitBurst: 2 } });
  expect(await readEnded(url, 'subscription { nothing }')).toEqual({
    updates: [['GRAPHQL_VALIDATION_FAILED']],
    refusal: undefined,
  });
  await readEnded(url, 'subscription { nothing }');
  // The rate limit refuses a request before its operation is read.
  expect(await readEnded(url, PRICES)).toEqual({ updates: [], refusal: ['RATE_LIMITED'] });
});

test('what does not come from a gateway is a failure', async () => {
  const { url } = await serveGatewayForTest();
  await expect(readEnded(new URL('/nothing', url).href, PRICES)).rejects.toThrow();
});
