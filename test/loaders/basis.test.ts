import { execute, parse } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { createContext } from '../../src/graphql/context.ts';
import { schema } from '../../src/graphql/schema.ts';
import { createBasis } from '../../src/loaders/basis.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

describe('what an answer rests on', () => {
  test('nothing that was noted is final', () => {
    const basis = createBasis();
    expect([basis.isFinal(), basis.holds(0), basis.expiresAt()]).toEqual([true, true, Number.POSITIVE_INFINITY]);
  });

  test('a source that holds something else ends it', () => {
    const basis = createBasis();
    let held: string | undefined = 'this';
    basis.restsOn(() => held, 'this');
    expect([basis.isFinal(), basis.holds(0)]).toEqual([false, true]);
    held = undefined;
    expect(basis.holds(0)).toBe(false);
  });

  test('of several moments the earliest ends it', () => {
    const basis = createBasis();
    basis.lastsUntil(2_000);
    basis.lastsUntil(1_000);
    expect([basis.expiresAt(), basis.holds(999), basis.holds(1_000), basis.isFinal()]).toEqual([
      1_000,
      true,
      false,
      false,
    ]);
  });

  test('of several sources the one that changes first says until when it is expected to hold', () => {
    const basis = createBasis();
    expect(basis.expectedUntil()).toBe(Number.POSITIVE_INFINITY);
    basis.restsOn(
      () => 1,
      1,
      () => 5_000,
    );
    basis.restsOn(
      () => 2,
      2,
      () => 4_000,
    );
    expect(basis.expectedUntil()).toBe(4_000);
    basis.lastsUntil(3_000);
    expect(basis.expectedUntil()).toBe(3_000);
    basis.restsOn(() => 3, 3);
    expect(basis.expectedUntil()).toBe(Number.NEGATIVE_INFINITY);
  });

  test('what tells of a final height alone is of final heights; what is final for another reason is not', () => {
    const basis = createBasis();
    expect([basis.isFinal(), basis.isOfFinalHeights()]).toEqual([true, false]);
    basis.tellsOfFinalHeight();
    expect([basis.isFinal(), basis.isOfFinalHeights()]).toEqual([true, true]);
    basis.restsOn(() => 1, 1);
    expect([basis.isFinal(), basis.isOfFinalHeights()]).toEqual([false, false]);
  });

  test('what is told of this moment does not hold at all', () => {
    const basis = createBasis();
    expect(basis.momentary('now')).toBe('now');
    expect([basis.holds(0), basis.isFinal()]).toEqual([false, false]);
  });
});

describe('the basis of answers', () => {
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
    return contextValue.loaders.basis;
  }

  test('a final height alone is final, with its pools in whatever order', async () => {
    for (const query of [
      `{ poolPairs(at: ${tip - 10}) { nodes { id price(decimals1: 9) exactPrice token1PoolValue } } }`,
      `{ poolPairs(at: ${tip - 3}, orderBy: NATIVE_LIQUIDITY_DESC, filter: { nonEmpty: true }) { totalCount } }`,
    ]) {
      const basis = await basisOf(query);
      expect([basis.isFinal(), basis.isOfFinalHeights()], query).toEqual([true, true]);
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
    const basis = await basisOf(query);
    expect([basis.isFinal(), basis.holds(gateway.clock.now)]).toEqual([false, true]);
  });

  test('a height near the tip, and the tip by its number, are not final', async () => {
    for (const at of [tip, tip - 1, tip - 2]) {
      const basis = await basisOf(`{ poolPairs(first: 1, at: ${at}) { totalCount } }`);
      expect([at, basis.isFinal(), basis.holds(gateway.clock.now)]).toEqual([at, false, true]);
    }
  });

  test('symbols of tokens that are not listed rest on market data, also at a final height', async () => {
    const basis = await basisOf(`{ poolPairs(first: 500, at: ${tip - 10}) { nodes { token1 { symbol } } } }`);
    expect([basis.isFinal(), basis.holds(gateway.clock.now)]).toEqual([false, true]);
  });

  test('a book lasts as long as its reading serves everyone', async () => {
    const tickerId = gateway.app.service.sources.market.tickers.current()?.market.rows[0]?.tickerId;
    const basis = await basisOf(`{ orderBook(tickerId: "${tickerId}") { tickerId } }`);
    const { now } = gateway.clock;
    expect([basis.holds(now + 999), basis.holds(now + 1_000), basis.isFinal()]).toEqual([true, false, false]);
  });

  test('that there is no such book, the service and ages are told of this moment', async () => {
    for (const query of ['{ orderBook(tickerId: "NONE") { tickerId } }', '{ service { version } }']) {
      expect((await basisOf(query)).holds(gateway.clock.now), query).toBe(false);
    }
  });

  test('a new head ends what rests on it, and nothing else', async () => {
    const [current, past] = [
      await basisOf('{ beaconHeight }'),
      await basisOf(`{ poolPairs(at: ${tip - 10}) { totalCount } }`),
    ];
    await gateway.advance();
    expect([current.holds(gateway.clock.now), past.holds(gateway.clock.now)]).toEqual([false, true]);
  });
});
