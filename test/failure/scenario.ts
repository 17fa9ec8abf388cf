import { expect, test } from 'vitest';
import type { Upstream } from '../../src/errors.ts';
import { keepEvents, type ReceivedEvents } from '../support/events.ts';
import {
  BOTH,
  earlier,
  errorOf,
  expectedData,
  expectLoss,
  LOST_FROM_THE_START,
  LOST_LATER,
  SUBSCRIBED,
  SUBSCRIPTIONS,
  toClientError,
} from './client-answers.ts';
import { endOutage, type Failure, open, startOutage, untilNoticed } from './failure.ts';
import { AGE_MS, expectFailing, expectHealth, NOTHING_READ, STALE } from './operator-view.ts';

/**
 * Tests a failure at each upstream, from the start or after good responses: what a query gets, what a subscriber gets, what
 * `/ready`, `service`, the metrics and the log report, and that the gateway recovers by itself.
 */
export function describeFailure(what: string, failure: Failure): void {
  const upstreams = UPSTREAMS.filter(([, upstream]) => (failure.only ?? upstream) === upstream);

  if (failure.when === 'from the start')
    test.each(upstreams)(
      `%s ${what} from the start: its fields are null with the error, the others are complete, until it recovers`,
      (_, upstream) => failsFromTheStart(upstream, failure),
    );
  else
    test.each(upstreams)(
      `%s ${what} after good responses: the last ones are served with their age, and subscriptions continue when it recovers`,
      (_, upstream) => failsAfterGoodResponses(upstream, failure),
    );
}

const UPSTREAMS: readonly [string, Upstream][] = [
  ['the node', 'NODE'],
  ['the market-data host', 'MARKET_DATA'],
];

async function failsFromTheStart(upstream: Upstream, failure: Failure): Promise<void> {
  const gateway = await open(failure, (sandbox) => startOutage(sandbox, upstream, failure));
  const { sandbox, ask, subscribe, lines } = gateway;
  const { height } = sandbox.chain.tip;
  const variables = earlier(height);

  const answer = await ask(BOTH, variables);
  expectLoss(answer, expectedData(height), LOST_FROM_THE_START[upstream], errorOf(upstream, failure));
  const waiting: ReceivedEvents[] = [];
  for (const [of, subscription] of Object.entries(SUBSCRIPTIONS)) {
    const stream = keepEvents(subscribe(subscription));
    await expect.poll(() => stream.answers.length).toBe(1);
    const [first] = stream.answers;
    if (SUBSCRIBED[upstream].includes(of)) {
      expect([first?.data, first?.errors?.map(toClientError)]).toEqual([null, [errorOf(upstream, failure)]]);
      waiting.push(stream);
    } else expect([first?.errors, stream.isOpen()]).toEqual([undefined, true]);
  }
  await expectFailing(gateway, upstream, failure, NOTHING_READ[upstream]);

  await endOutage(gateway, upstream, failure);
  await expectHealth(gateway, upstream);
  expect(await ask(BOTH, variables)).toEqual({ data: expectedData(height) });
  for (const { answers, isOpen } of waiting) {
    await expect.poll(() => answers.length).toBe(2);
    expect([isOpen(), answers[1]?.errors]).toEqual([true, undefined]);
  }
  expect(lines).toHaveLength(2);
}

async function failsAfterGoodResponses(upstream: Upstream, failure: Failure): Promise<void> {
  const gateway = await open(failure);
  const { sandbox, ask, subscribe, clock, lines, untilHeight, advance } = gateway;
  const { height } = sandbox.chain.tip;
  const variables = earlier(height);
  await ask(BOTH, { ...variables, past: variables.known });
  const prices = keepEvents(subscribe(SUBSCRIPTIONS.prices));
  const tickers = keepEvents(subscribe(SUBSCRIPTIONS.tickers));
  const books = keepEvents(subscribe(SUBSCRIPTIONS.orderBook));
  await expect.poll(() => [prices, tickers, books].map(({ answers }) => answers.length)).toEqual([1, 1, 1]);

  await startOutage(sandbox, upstream, failure);
  await untilNoticed(gateway, upstream);
  clock.now += AGE_MS;
  sandbox.advance(2);
  await expectFailing(gateway, upstream, failure, STALE[upstream]);
  if (upstream !== 'NODE') await untilHeight(height + 2);
  const served = upstream === 'NODE' ? height : height + 2;
  const answer = await ask(BOTH, variables);
  expectLoss(answer, expectedData(served), LOST_LATER[upstream], errorOf(upstream, failure));
  expect((await subscribe(SUBSCRIPTIONS.prices).next()).value?.data.prices.beaconHeight).toBe(served);
  expect((await subscribe(SUBSCRIPTIONS.tickers).next()).value?.errors).toBeUndefined();

  await endOutage(gateway, upstream, failure);
  await expectHealth(gateway, upstream);
  await untilHeight(height + 2);
  expect(await ask(BOTH, variables)).toEqual({ data: expectedData(height + 2) });
  await expect.poll(() => [tickers, books].map(({ answers }) => answers.length)).toEqual([2, 2]);
  await advance();
  await expect.poll(() => [prices, tickers, books].map(({ answers }) => answers.length)).toEqual([3, 3, 3]);
  expect(prices.answers).toEqual(
    [height, height + 2, height + 3].map((beaconHeight, at, heights) => ({
      data: { prices: { beaconHeight, previousHeight: heights[at - 1] ?? null, poolPairs: [{ beaconHeight }] } },
    })),
  );
  for (const { answers, isOpen } of [prices, tickers, books]) {
    expect([isOpen(), answers.flatMap(({ errors }) => errors ?? [])]).toEqual([true, []]);
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(answers.length);
  }
  expect(lines).toHaveLength(2);
}
