import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config.ts';
import type { Upstream, UpstreamErrorCode } from '../../src/errors.ts';
import type { HttpFault } from '../../src/sandbox/faults.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { keepEvents } from '../support/events.ts';
import { type Answer, startGatewayForTest, type TestGateway } from '../support/gateway.ts';
import { INFO, WARN } from '../support/log.ts';
import { sample, sumOf } from '../support/metrics.ts';
import { BTC, PRV } from '../support/tokens.ts';

/** One way for an upstream to fail as a whole, and what comes of it. */
export type Failure = {
  /** What befalls every call; `refused` where the host does not even listen. */
  readonly fault: HttpFault | 'refused';
  /** What clients, `service`, the metrics and the log call it. */
  readonly code: UpstreamErrorCode;
  /** The message behind the name of the upstream. */
  readonly says: string;
  /** The host is left alone until it may be well again. What answers, if wrongly, is asked at the usual pace. */
  readonly isLeftAlone: boolean;
  /** Befalls only this upstream, or means something else at the other. */
  readonly only?: Upstream;
  readonly config?: Partial<Config>;
};

/** For failures that show only when the time is over: short, and long enough for a healthy answer on a busy machine. */
export const SHORT_TIMEOUT_MS = 400;

/**
 * Shows one failure whole, at each upstream, from the start and after good readings: what a query gets, what a subscriber
 * sees, what `/ready`, `service`, the metrics and the log say, and that it heals by itself.
 */
export function showFailure(what: string, failure: Failure): void {
  const upstreams = (['NODE', 'MARKET_DATA'] as const).filter((upstream) => (failure.only ?? upstream) === upstream);

  describe.each(upstreams)(`%s ${what}`, (upstream) => {
    test('from the start: what is beside it is whole, the rest says what is wrong, until it heals', () =>
      failsFromTheStart(upstream, failure));
    test('after good readings: the last ones are served with their age, and subscriptions go on when it heals', () =>
      failsAfterGoodReadings(upstream, failure));
  });
}

async function failsFromTheStart(upstream: Upstream, failure: Failure): Promise<void> {
  const gateway = await open(failure, (sandbox) => breakDown(sandbox, upstream, failure));
  const { sandbox, ask, subscribe, lines } = gateway;
  const { height } = sandbox.world.tip;
  const variables = earlier(height);

  const answer = await ask(BOTH, variables);
  expectLoss(answer, whole(height), LOST_WITHOUT_READINGS[upstream], errorOf(upstream, failure));
  for (const [of, subscription] of Object.entries(SUBSCRIPTIONS)) {
    const stream = keepEvents(subscribe(subscription));
    await expect.poll(() => stream.answers.length).toBe(1);
    const [first] = stream.answers;
    if (SUBSCRIBED[upstream].includes(of)) {
      expect(first?.errors?.map(toClientError)).toEqual([errorOf(upstream, failure)]);
      await expect.poll(() => stream.isOpen()).toBe(false);
    } else expect([first?.errors, stream.isOpen()]).toEqual([undefined, true]);
  }
  await expectTrouble(gateway, upstream, failure, NOTHING_READ[upstream]);

  await heal(gateway, upstream, failure);
  await expectHealth(gateway, upstream);
  expect(await ask(BOTH, variables)).toEqual({ data: whole(height) });
  expect(lines.filter(({ level }) => level >= INFO)).toHaveLength(2);
}

async function failsAfterGoodReadings(upstream: Upstream, failure: Failure): Promise<void> {
  const gateway = await open(failure);
  const { sandbox, ask, subscribe, clock, lines, untilHeight, advance } = gateway;
  const { height } = sandbox.world.tip;
  const variables = earlier(height);
  await ask(BOTH, { ...variables, past: variables.known });
  const prices = keepEvents(subscribe(SUBSCRIPTIONS.prices));
  const tickers = keepEvents(subscribe(SUBSCRIPTIONS.tickers));
  const books = keepEvents(subscribe(SUBSCRIPTIONS.orderBook));
  await expect.poll(() => [prices, tickers, books].map(({ answers }) => answers.length)).toEqual([1, 1, 1]);

  await breakDown(sandbox, upstream, failure);
  clock.now += AGE_MS;
  sandbox.advance(2);
  await expectTrouble(gateway, upstream, failure, STALE[upstream]);
  if (upstream !== 'NODE') await untilHeight(height + 2);
  const served = upstream === 'NODE' ? height : height + 2;
  const answer = await ask(BOTH, variables);
  expectLoss(answer, whole(served), LOST_AFTER_READINGS[upstream], errorOf(upstream, failure));
  expect((await subscribe(SUBSCRIPTIONS.prices).next()).value?.data.prices.beaconHeight).toBe(served);
  expect((await subscribe(SUBSCRIPTIONS.tickers).next()).value?.errors).toBeUndefined();

  await heal(gateway, upstream, failure);
  await expectHealth(gateway, upstream);
  await untilHeight(height + 2);
  expect(await ask(BOTH, variables)).toEqual({ data: whole(height + 2) });
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

const AGE_MS = 5_000;
const ORDER_BOOK_TTL_MS = 50;

/** Both upstreams: the current height, two earlier ones, both lists and a book. */
const BOTH = `query ($known: BeaconHeight!, $past: BeaconHeight!) {
  beaconHeight
  poolPair(token1Id: "${PRV}", token2Id: "${BTC}") { beaconHeight pairs { tickerId } }
  known: poolPairs(first: 0, at: $known) { totalCount }
  past: poolPairs(first: 0, at: $past) { totalCount }
  pairs(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId poolPair { beaconHeight } }
  tickers(filter: { tickerIds: ["pBTC_PRV"] }) { tickerId }
  orderBook(tickerId: "pBTC_PRV") { tickerId }
}`;

/** What {@link BOTH} says where nothing is wrong. */
function whole(beaconHeight: number) {
  return {
    beaconHeight,
    poolPair: { beaconHeight, pairs: [{ tickerId: 'pBTC_PRV' }] },
    known: { totalCount: POOLS },
    past: { totalCount: POOLS },
    pairs: [{ tickerId: 'pBTC_PRV', poolPair: { beaconHeight } }],
    tickers: [{ tickerId: 'pBTC_PRV' }],
    orderBook: { tickerId: 'pBTC_PRV' },
  };
}

const POOLS = 54;

function earlier(height: number) {
  return { known: height - 10, past: height - 20 };
}

type Path = readonly (string | number)[];

const LOST_WITHOUT_READINGS: Record<Upstream, readonly Path[]> = {
  NODE: [['beaconHeight'], ['poolPair'], ['known'], ['past'], ['pairs', 0, 'poolPair']],
  MARKET_DATA: [['poolPair', 'pairs'], ['pairs'], ['tickers'], ['orderBook']],
};

const LOST_AFTER_READINGS: Record<Upstream, readonly Path[]> = {
  NODE: [['past']],
  MARKET_DATA: [['orderBook']],
};

const SUBSCRIPTIONS = {
  prices: `subscription {
    prices(poolPairs: [{ token1Id: "${PRV}", token2Id: "${BTC}" }]) { beaconHeight previousHeight poolPairs { beaconHeight } }
  }`,
  tickers: 'subscription { tickers { tickerId lastPrice baseVolume targetVolume } }',
  orderBook: 'subscription { orderBook(tickerId: "pBTC_PRV") { timestamp } }',
};

const SUBSCRIBED: Record<Upstream, readonly string[]> = { NODE: ['prices'], MARKET_DATA: ['tickers', 'orderBook'] };

/** What `/ready` and `service` say of an upstream that fails. */
type Told = { readonly reason: string; readonly service: object };

const NOTHING_READ: Record<Upstream, Told> = {
  NODE: {
    reason: 'no beacon height has been read yet',
    service: { head: null, marketData: { ageMs: 0, stale: false } },
  },
  MARKET_DATA: {
    reason: 'pairs and tickers have not been read yet',
    service: { head: { ageMs: 0, stale: false }, marketData: null },
  },
};

const STALE: Record<Upstream, Told> = {
  NODE: {
    reason: 'the newest beacon height is stale',
    service: { head: { ageMs: AGE_MS, stale: true }, marketData: { ageMs: 0, stale: false } },
  },
  MARKET_DATA: {
    reason: 'pairs and tickers are stale',
    service: { head: { ageMs: 0, stale: false }, marketData: { ageMs: AGE_MS, stale: true } },
  },
};

const NAMES: Record<Upstream, string> = { NODE: 'The node', MARKET_DATA: 'The market-data host' };

type OpenGateway = TestGateway & { readonly origin: string };

async function open({ config = {} }: Failure, before: (sandbox: Sandbox) => Promise<void> = async () => {}) {
  const gateway = await startGatewayForTest({
    config: { orderBookTtlMs: ORDER_BOOK_TTL_MS, ...config },
    before,
    sandbox: { history: 60 },
  });
  const { origin } = new URL(await gateway.app.listen(0, '127.0.0.1'));
  return { ...gateway, origin };
}

async function breakDown(sandbox: Sandbox, upstream: Upstream, { fault }: Failure): Promise<void> {
  const host = hostOf(sandbox, upstream);
  if (fault === 'refused') await host.stop();
  else host.faults.set(fault);
}

async function heal({ sandbox, clock }: TestGateway, upstream: Upstream, { fault }: Failure): Promise<void> {
  const host = hostOf(sandbox, upstream);
  if (fault === 'refused') await host.start();
  else host.faults.clear();
  // What an order book was last read with, a failure too, serves everyone until then.
  clock.now += ORDER_BOOK_TTL_MS;
}

function hostOf({ node, marketData }: Sandbox, upstream: Upstream) {
  return upstream === 'NODE' ? node : marketData;
}

/** Exactly these places of the answer are null, each with this error; no word of where the upstream is. */
function expectLoss(answer: Answer, data: object, lost: readonly Path[], error: ClientError): void {
  expect(answer.data).toEqual(lost.reduce(withNullAt, data));
  const errors = answer.errors?.map((each) => ({ path: each.path, ...toClientError(each) }));
  expect(errors).toHaveLength(lost.length);
  expect(errors).toEqual(expect.arrayContaining(lost.map((path) => ({ path, ...error }))));
  expect(JSON.stringify(answer)).not.toMatch(/127\.0\.0\.1|10\.0\.0\.1|localhost|ECONN/);
}

function withNullAt(data: object, [key = '', ...rest]: Path): object {
  const copy: Record<string, unknown> | unknown[] = Array.isArray(data) ? [...data] : { ...data };
  Object.assign(copy, {
    [key]: rest.length === 0 ? null : withNullAt((data as Record<string, object>)[key] ?? {}, rest),
  });
  return copy;
}

type ClientError = { readonly message: string; readonly extensions: object };

function errorOf(upstream: Upstream, { code, says }: Failure): ClientError {
  return { message: `${NAMES[upstream]} ${says}.`, extensions: { code, upstream } };
}

function toClientError({ message, extensions }: ClientError): ClientError {
  return { message, extensions };
}

/** What those are told who watch over the gateway, while an upstream fails and the other one does not. */
async function expectTrouble(gateway: OpenGateway, upstream: Upstream, failure: Failure, told: Told): Promise<void> {
  const { sandbox, lines, origin } = gateway;
  const { code, isLeftAlone } = failure;
  const { host } = new URL(hostOf(sandbox, upstream).url);
  const failed = async () => sumOf(await metricsOf(origin), 'pdex_upstream_calls_total', { upstream, outcome: code });
  await expect.poll(failed).toBeGreaterThanOrEqual(3);
  await expect.poll(() => serviceOf(gateway)).toEqual({ ...told.service, upstreams: healthWhile(upstream, code) });
  await expect.poll(() => readiness(origin)).toEqual([503, { status: 'not ready', reasons: [told.reason] }]);

  await expect
    .poll(() => figures(gateway, upstream))
    .toEqual({
      headStale: Number(upstream === 'NODE'),
      healthy: 0,
      leftAlone: Number(isLeftAlone),
    });
  expect(lines).toEqual([
    expect.objectContaining({ level: WARN, msg: 'an upstream cannot be read', upstream, code, host }),
  ]);
}

/** What they are told when both are well again. */
async function expectHealth(gateway: OpenGateway, upstream: Upstream): Promise<void> {
  const { lines, origin } = gateway;
  await expect.poll(() => readiness(origin)).toEqual([200, { status: 'ready' }]);
  await expect.poll(() => lines.length).toBe(2);
  expect(lines[1]).toEqual({ level: INFO, msg: 'an upstream can be read again', upstream });
  const { upstreams, ...readings } = await serviceOf(gateway);
  expect(readings).toMatchObject({ head: { stale: false }, marketData: { stale: false } });
  expect(upstreams).toMatchObject([{ healthy: true }, { healthy: true }]);

  expect(await figures(gateway, upstream)).toEqual({ headStale: 0, healthy: 1, leftAlone: 0 });
}

function healthWhile(failing: Upstream, code: UpstreamErrorCode): object[] {
  return (['NODE', 'MARKET_DATA'] as const).map((upstream) => {
    const healthy = upstream !== failing;
    return { upstream, healthy, lastErrorCode: healthy ? null : code };
  });
}

async function serviceOf({ ask }: Pick<TestGateway, 'ask'>) {
  const query =
    '{ service { head { ageMs stale } marketData { ageMs stale } upstreams { upstream healthy lastErrorCode } } }';
  return (await ask(query)).data.service;
}

async function readiness(origin: string): Promise<[number, unknown]> {
  const response = await fetch(new URL('/ready', origin));
  return [response.status, await response.json()];
}

async function figures({ origin, sandbox }: OpenGateway, upstream: Upstream) {
  const metrics = await metricsOf(origin);
  const { host } = new URL(hostOf(sandbox, upstream).url);
  return {
    headStale: sample(metrics, 'pdex_head_stale'),
    healthy: sample(metrics, `pdex_upstream_healthy{upstream="${upstream}"}`),
    leftAlone: sample(metrics, `pdex_upstream_left_alone{upstream="${upstream}",host="${host}"}`),
  };
}

async function metricsOf(origin: string): Promise<string> {
  return (await fetch(new URL('/metrics', origin))).text();
}
