import { execute, parse } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { createContext } from '../../src/graphql/context.ts';
import { schema } from '../../src/graphql/schema.ts';
import { Dependencies } from '../../src/loaders/dependencies.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

describe('dependencies', () => {
  test('without sources are immutable', () => {
    const dependencies = new Dependencies();
    expect([dependencies.areImmutable(), dependencies.areCurrent(0), dependencies.expiresAt()]).toEqual([
      true,
      true,
      Number.POSITIVE_INFINITY,
    ]);
  });

  test('are no longer current when a source has another value', () => {
    const dependencies = new Dependencies();
    let value: string | undefined = 'this';
    dependencies.dependOn(() => value, 'this');
    expect([dependencies.areImmutable(), dependencies.areCurrent(0)]).toEqual([false, true]);
    value = undefined;
    expect(dependencies.areCurrent(0)).toBe(false);
  });

  test('expire at the earliest of several moments', () => {
    const dependencies = new Dependencies();
    dependencies.expireAt(2_000);
    dependencies.expireAt(1_000);
    expect([
      dependencies.expiresAt(),
      dependencies.areCurrent(999),
      dependencies.areCurrent(1_000),
      dependencies.areImmutable(),
    ]).toEqual([1_000, true, false, false]);
  });

  test('are no longer current when the clock is set back to before their data was read', () => {
    const dependencies = new Dependencies();
    dependencies.expireAt(2_000, 1_000);
    dependencies.expireAt(3_000, 1_500);
    expect([1_499, 1_500, 1_999, 2_000].map((now) => dependencies.areCurrent(now))).toEqual([false, true, true, false]);
  });

  test('are expected to be current until the first source changes', () => {
    const dependencies = new Dependencies();
    expect(dependencies.expectedUntil()).toBe(Number.POSITIVE_INFINITY);
    dependencies.dependOn(
      () => 1,
      1,
      () => 5_000,
    );
    dependencies.dependOn(
      () => 2,
      2,
      () => 4_000,
    );
    expect(dependencies.expectedUntil()).toBe(4_000);
    dependencies.expireAt(3_000);
    expect(dependencies.expectedUntil()).toBe(3_000);
    dependencies.dependOn(() => 3, 3);
    expect(dependencies.expectedUntil()).toBe(Number.NEGATIVE_INFINITY);
  });

  test('are of final heights only if they include one and nothing that changes', () => {
    const dependencies = new Dependencies();
    expect([dependencies.areImmutable(), dependencies.areOfFinalHeights()]).toEqual([true, false]);
    dependencies.includeFinalHeight();
    expect([dependencies.areImmutable(), dependencies.areOfFinalHeights()]).toEqual([true, true]);
    dependencies.dependOn(() => 1, 1);
    expect([dependencies.areImmutable(), dependencies.areOfFinalHeights()]).toEqual([false, false]);
  });

  test('on the token list are immutable until it changes, but not for caches of other programs', () => {
    const dependencies = new Dependencies();
    dependencies.includeFinalHeight();
    let list = {};
    dependencies.dependOnTokens(
      () => list,
      list,
      () => 4_000,
    );
    expect([dependencies.areImmutable(), dependencies.areOfFinalHeights()]).toEqual([true, false]);
    expect([dependencies.areCurrent(0), dependencies.expectedUntil()]).toEqual([true, 4_000]);
    list = {};
    expect(dependencies.areCurrent(0)).toBe(false);
  });

  test('with a value that is only valid now are never current', () => {
    const dependencies = new Dependencies();
    expect(dependencies.expireNow('now')).toBe('now');
    expect([dependencies.areCurrent(0), dependencies.areImmutable()]).toEqual([false, false]);
  });
});

describe('the dependencies of an answer', () => {
  let gateway: TestGateway;
  let tip: number;

  beforeAll(async () => {
    const started = await startGateway({ sandbox: { history: 40 } });
    gateway = started;
    await Promise.all([
      started.app.service.sources.market.pairs.get(),
      started.app.service.sources.market.tickers.get(),
    ]);
    tip = (await started.app.service.sources.head.get()).beaconHeight;
    return started.close;
  });

  async function dependenciesOf(query: string) {
    const contextValue = createContext(gateway.app.service);
    const result = await execute({ schema, document: parse(query), contextValue });
    expect((result as { errors?: unknown }).errors).toBeUndefined();
    return contextValue.loaders.dependencies;
  }

  test('about a final height are immutable, in every order of its pools', async () => {
    for (const query of [
      `{ poolPairs(at: ${tip - 10}) { nodes { id price(decimals1: 9) exactPrice token1PoolValue } } }`,
      `{ poolPairs(at: ${tip - 3}, orderBy: NATIVE_LIQUIDITY_DESC, filter: { nonEmpty: true }) { totalCount } }`,
    ]) {
      const dependencies = await dependenciesOf(query);
      expect([dependencies.areImmutable(), dependencies.areOfFinalHeights()], query).toEqual([true, true]);
    }
  });

  test.each([
    '{ beaconHeight }',
    '{ poolPairs(first: 1) { totalCount } }',
    '{ chainInfo { chainName } }',
    '{ tokens { id } }',
    '{ pairs { id } }',
    '{ tickers { lastPrice } }',
    '{ poolPairs(first: 1) { nodes { pairs { id } } } }',
  ])('about current data are not immutable: %s', async (query) => {
    const dependencies = await dependenciesOf(query);
    expect([dependencies.areImmutable(), dependencies.areCurrent(gateway.clock.now)]).toEqual([false, true]);
  });

  test('about a height near the tip are not immutable', async () => {
    const { height } = gateway.sandbox.chain.tip;
    for (const at of [height, height - 1, height - 2]) {
      const dependencies = await dependenciesOf(`{ poolPairs(first: 1, at: ${at}) { totalCount } }`);
      expect([at, dependencies.areImmutable(), dependencies.areCurrent(gateway.clock.now)]).toEqual([at, false, true]);
    }
  });

  test('about the height at a time are of final heights only if the block above is final too', async () => {
    const { chain } = gateway.sandbox;
    for (const [below, areFinal] of [
      [2, false],
      [3, false],
      [4, true],
    ] as const) {
      const block = chain.block(chain.tip.height - below);
      const time = new Date((block?.time ?? 0) * 1_000 + 1).toISOString();
      const dependencies = await dependenciesOf(`{ beaconHeightAt(time: "${time}") }`);
      expect([below, dependencies.areOfFinalHeights()]).toEqual([below, areFinal]);
    }
  });

  test('include market data for symbols that the token list does not contain', async () => {
    const dependencies = await dependenciesOf(
      `{ poolPairs(first: 500, at: ${tip - 10}) { nodes { token1 { symbol } } } }`,
    );
    expect([dependencies.areImmutable(), dependencies.areCurrent(gateway.clock.now)]).toEqual([false, true]);
  });

  test('with an order book expire with its snapshot', async () => {
    const tickerId = gateway.app.service.sources.market.tickers.current()?.market.rows[0]?.tickerId;
    const dependencies = await dependenciesOf(`{ orderBook(tickerId: "${tickerId}") { tickerId } }`);
    const { now } = gateway.clock;
    expect([
      dependencies.areCurrent(now + 999),
      dependencies.areCurrent(now + 1_000),
      dependencies.areImmutable(),
    ]).toEqual([true, false, false]);
  });

  test('without an order book, or with the service, are never current', async () => {
    for (const query of ['{ orderBook(tickerId: "NONE") { tickerId } }', '{ service { version } }']) {
      expect((await dependenciesOf(query)).areCurrent(gateway.clock.now), query).toBe(false);
    }
  });

  test('about the current head end with the next head, those about a final height do not', async () => {
    const [current, past] = [
      await dependenciesOf('{ beaconHeight }'),
      await dependenciesOf(`{ poolPairs(at: ${tip - 10}) { totalCount } }`),
    ];
    await gateway.advance();
    expect([current.areCurrent(gateway.clock.now), past.areCurrent(gateway.clock.now)]).toEqual([false, true]);
  });
});
