import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dataOf } from '../support/events.ts';
import { startGateway, startGatewayForTest, type TestGateway } from '../support/gateway.ts';
import { connect } from '../support/websocket.ts';

const PRICES = `subscription Prices($after: BeaconHeight, $onlyChanged: Boolean! = false) {
  prices(afterHeight: $after, onlyChanged: $onlyChanged) {
    beaconHeight previousHeight missedHeights poolPairs { id token1PoolValue }
  }
}`;

/** The first updates of a subscriber that resumes. */
async function updatesAfter(after: number, count: number, onlyChanged = false) {
  const updates = [];
  for await (const { prices } of dataOf(gateway.subscribe(PRICES, { after, onlyChanged }))) {
    updates.push(prices);
    if (updates.length === count) break;
  }
  return updates;
}

let gateway: TestGateway;
let tip: number;
beforeAll(async () => {
  const started = await startGateway({ config: { maxResumedHeights: 4 } });
  gateway = started;
  await gateway.untilHeight(gateway.sandbox.chain.tip.height);
  return started.close;
});
beforeEach(async () => {
  // These heights are stored, each published by itself.
  for (let block = 0; block < 4; block++) await gateway.advance();
  tip = gateway.sandbox.chain.tip.height;
});

const shown = ({ beaconHeight, previousHeight, missedHeights }: Record<string, unknown>) => [
  beaconHeight,
  previousHeight,
  missedHeights,
];

describe('prices(afterHeight:)', () => {
  test('sends the missed heights in order, then the new ones', async () => {
    const stream = gateway.subscribe(PRICES, { after: tip - 3 });
    const updates = [];
    for (let update = 0; update < 3; update++) updates.push((await stream.next()).value?.data.prices);
    gateway.sandbox.advance();
    updates.push((await stream.next()).value?.data.prices);
    await stream.return(undefined);
    expect(updates.map(shown)).toEqual([
      [tip - 2, tip - 3, 0],
      [tip - 1, tip - 2, 0],
      [tip, tip - 1, 0],
      [tip + 1, tip, 0],
    ]);
    for (const { beaconHeight, poolPairs } of updates) {
      const { data } = await gateway.ask(
        `query At($at: BeaconHeight!) { poolPairs(first: 500, at: $at, orderBy: ID_ASC) { nodes { token1PoolValue } } }`,
        { at: beaconHeight },
      );
      const values = (pools: readonly { token1PoolValue: string }[]) => pools.map((pool) => pool.token1PoolValue);
      expect(values(poolPairs)).toEqual(values(data.poolPairs.nodes));
    }
  });

  test('needs no call: the gateway has stored the heights', async () => {
    gateway.sandbox.node.resetCalls();
    await updatesAfter(tip - 4, 4);
    expect(gateway.sandbox.node.calls('getpdestate')).toBe(0);
  });

  test('counts the skipped heights if more were missed than are stored', async () => {
    const updates = await updatesAfter(tip - 7, 2);
    expect(updates.map(shown)).toEqual([
      [tip - 3, tip - 7, 3],
      [tip - 2, tip - 3, 0],
    ]);
  });

  test('starts with all pools, also with onlyChanged', async () => {
    const [first, second] = await updatesAfter(tip - 2, 2, true);
    expect(first.poolPairs.length).toBe(gateway.sandbox.chain.pools.length);
    expect(second.poolPairs.length).toBeLessThan(first.poolPairs.length);
  });

  test('refuses a height far in the future, with the newest height in the error', async () => {
    const { value } = await gateway.subscribe(PRICES, { after: tip + 101 }).next();
    expect(value?.errors?.[0]?.extensions).toEqual({ code: 'HEIGHT_NOT_AVAILABLE', beaconHeight: tip });
  });

  test('resumes after a broken websocket, without a gap and without a repeated height', async () => {
    const { app, advance, untilReady } = await startGatewayForTest();
    await untilReady();
    const url = await app.listen(0, '127.0.0.1');
    const heights: number[] = [];
    for (let connection = 0; connection < 4; connection++) {
      const client = connect(url);
      const after = heights.at(-1);
      for await (const { data } of client.iterate({ query: PRICES, variables: { after } })) {
        heights.push((data as { prices: { beaconHeight: number } }).prices.beaconHeight);
        await advance();
        if (heights.length % 3 === 0) break;
      }
      await client.dispose();
      await advance();
    }
    const [first = 0] = heights;
    expect(heights).toEqual(Array.from({ length: 12 }, (_, i) => first + i));
  });
});
