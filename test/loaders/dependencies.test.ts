import { execute, parse } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { createContext } from '../../src/graphql/context.ts';
import { schema } from '../../src/graphql/schema.ts';
import { createDependencies } from '../../src/loaders/dependencies.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

describe('what an answer rests on', () => {
  test('nothing that was noted is final', () => {
    const dependencies = createDependencies();
    expect([dependencies.areImmutable(), dependencies.areCurrent(0), dependencies.expiresAt()]).toEqual([
      true,
      true,
      Number.POSITIVE_INFINITY,
    ]);
  });

  test('a source that holds something else ends it', () => {
    const dependencies = createDependencies();
    let held: string | undefined = 'this';
    dependencies.dependOn(() => held, 'this');
    expect([dependencies.areImmutable(), dependencies.areCurrent(0)]).toEqual([false, true]);
    held = undefined;
    expect(dependencies.areCurrent(0)).toBe(false);
  });

  test('of several moments the earliest ends it', () => {
    const dependencies = createDependencies();
    dependencies.expireAt(2_000);
    dependencies.expireAt(1_000);
    expect([
      dependencies.expiresAt(),
      dependencies.areCurrent(999),
      dependencies.areCurrent(1_000),
      dependencies.areImmutable(),
    ]).toEqual([1_000, true, false, false]);
  });

  test('of several sources the one that changes first says until when it is expected to hold', () => {
    const dependencies = createDependencies();
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

  test('what tells of a final height alone is of final heights; what is final for another reason is not', () => {
    const dependencies = createDependencies();
    expect([dependencies.areImmutable(), dependencies.areOfFinalHeights()]).toEqual([true, false]);
    dependencies.includeFinalHeight();
    expect([dependencies.areImmutable(), dependencies.areOfFinalHeights()]).toEqual([true, true]);
    dependencies.dependOn(() => 1, 1);
    expect([dependencies.areImmutable(), dependencies.areOfFinalHeights()]).toEqual([false, false]);
  });

  test('what is told of this moment does not hold at all', () => {
    const dependencies = createDependencies();
    expect(dependencies.expireNow('now')).toBe('now');
    expect([dependencies.areCurrent(0), dependencies.areImmutable()]).toEqual([false, false]);
  });
});

describe('the dependencies of answers', () => {
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

  async function basisOf(query: string) {
    const contextValue = createContext(gateway.app.service);
    const result = await execute({ schema, document: parse(query), contextValue });
    expect((result as { errors?: unknown }).errors).toBeUndefined();
    return contextValue.loaders.dependencies;
  }

  test('a final height alone is final, with its pools in whatever order', async () => {
    for (const query of [
      `{ poolPairs(at: ${tip - 10}) { nodes { id price(decimals1: 9) exactPrice token1PoolValue } } }`,
      `{ poolPairs(at: ${tip - 3}, orderBy: NATIVE_LIQUIDITY_DESC, filter: { nonEmpty: true }) { totalCount } }`,
    ]) {
      const dependencies = await basisOf(query);
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
  ])('what is newest now is not final: %s', async (query) => {
    const dependencies = await basisOf(query);
    expect([dependencies.areImmutable(), dependencies.areCurrent(gateway.clock.now)]).toEqual([false, true]);
  });

  test('a height near the tip, and the tip by its number, are not final', async () => {
    for (const at of [tip, tip - 1, tip - 2]) {
      const dependencies = await basisOf(`{ poolPairs(first: 1, at: ${at}) { totalCount } }`);
      expect([at, dependencies.areImmutable(), dependencies.areCurrent(gateway.clock.now)]).toEqual([at, false, true]);
    }
  });

  test('symbols of tokens that are not listed rest on market data, also at a final height', async () => {
    const dependencies = await basisOf(`{ poolPairs(first: 500, at: ${tip - 10}) { nodes { token1 { symbol } } } }`);
    expect([dependencies.areImmutable(), dependencies.areCurrent(gateway.clock.now)]).toEqual([false, true]);
  });

  test('a book lasts as long as its reading serves everyone', async () => {
    const tickerId = gateway.app.service.sources.market.tickers.current()?.market.rows[0]?.tickerId;
    const dependencies = await basisOf(`{ orderBook(tickerId: "${tickerId}") { tickerId } }`);
    const { now } = gateway.clock;
    expect([
      dependencies.areCurrent(now + 999),
      dependencies.areCurrent(now + 1_000),
      dependencies.areImmutable(),
    ]).toEqual([true, false, false]);
  });

  test('that there is no such book, the service and ages are told of this moment', async () => {
    for (const query of ['{ orderBook(tickerId: "NONE") { tickerId } }', '{ service { version } }']) {
      expect((await basisOf(query)).areCurrent(gateway.clock.now), query).toBe(false);
    }
  });

  test('a new head ends what rests on it, and nothing else', async () => {
    const [current, past] = [
      await basisOf('{ beaconHeight }'),
      await basisOf(`{ poolPairs(at: ${tip - 10}) { totalCount } }`),
    ];
    await gateway.advance();
    expect([current.areCurrent(gateway.clock.now), past.areCurrent(gateway.clock.now)]).toEqual([false, true]);
  });
});
