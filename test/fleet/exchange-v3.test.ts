import { describe, expect, test } from 'vitest';
import { type ExchangeState, toPoolDirectory } from '../../src/domain/exchange.ts';
import { createStateReads } from '../../src/fleet/reads.ts';
import { createPoolDirectories } from '../../src/upstream/node/pools-reader.ts';
import { tokenId } from '../domain/pools.ts';
import { dataOf } from '../support/events.ts';
import { type Replica, startFleet, startReplica, type TestFleet, timesAlone } from '../support/fleet.ts';
import { WARN } from '../support/log.ts';
import { hasRedis } from '../support/redis.ts';
import { SOMEONE } from '../upstream/connect.ts';
import { connectPatiently, hasKey, keptOutcomes, readUntil, startRedisForTests } from './connected.ts';

const POOL = `${tokenId('a')}-${tokenId('b')}-${tokenId('c')}`;

/** A state with one pool, whose virtual amounts are above 2^64. */
const STATE: ExchangeState = {
  beaconHeight: 97,
  time: 97 * 40_000,
  directory: toPoolDirectory([POOL]),
  reserves: [2n ** 80n + 1n, 2n ** 127n],
  v3: {
    values: BigUint64Array.of(2n ** 64n - 1n, 2n ** 53n + 1n),
    amplifiers: [200_000],
    shareAmounts: BigUint64Array.of(2n ** 63n + 1n),
    orders: [
      [{ id: 'e'.repeat(64), sells: 2, rate1: 2n ** 64n - 1n, rate2: 1n, balance1: 0n, balance2: 2n ** 63n + 1n }],
    ],
    params: {
      defaultFeeRateBps: 25,
      feeRatesBps: new Map([[POOL, 7]]),
      nativeFeeDiscountPercent: 50,
      maxOrdersPerNft: 10,
      minNativeReserve: 2n ** 63n + 1n,
    },
  },
};

describe.skipIf(!hasRedis)('a fleet where V3 trades', () => {
  const redis = startRedisForTests();
  let fleets = 0;

  const start = (replicas: number) =>
    startFleet(redis, { prefix: `v3-${++fleets}`, replicas, sandbox: { exchange: 'v3' } });

  const total = ({ sandbox: { node } }: TestFleet) =>
    (['getblockchaininfo', 'getbeaconbeststatedetail', 'getpdestate', 'pdexv3_getState'] as const).map((call) =>
      node.calls(call),
    );

  /** Calls of new blocks, without those that poll the tip: these depend on the time. */
  const reads = (fleet: TestFleet) => total(fleet).slice(1);

  /** Waits until each replica has the trades of its newest blocks. A head is served before. */
  const untilTraded = ({ all }: TestFleet) =>
    Promise.all(
      all.flatMap(({ app: { service } }) => {
        const { head, trades } = service.sources;
        return head.recent().map((each) => trades.of(each, SOMEONE));
      }),
    );

  test('has its past states in Redis exactly, and those of V1 of the same heights beside them', async () => {
    const replicas = await Promise.all(
      [1, 2].map(async () => {
        const directoryOf = createPoolDirectories().of;
        const watcher = keptOutcomes();
        const read = createStateReads({
          redis: await connectPatiently(redis),
          directoryOf,
          maxWaitMs: 60_000,
          watcher,
        });
        const of = { chainName: 'v3', height: 97, isComplete: () => true };
        return (isV1: boolean, state?: ExchangeState) =>
          read({ ...of, isV1 }, async () => state ?? Promise.reject(new Error('it was read again')));
      }),
    );
    const [first, second] = replicas;
    const { v3: _, ...ofV1 } = { ...STATE, reserves: BigUint64Array.of(1n, 2n) };
    const connection = await connectPatiently(redis);
    for (const [id, isV1, state] of [
      ['97', false, STATE],
      ['97-v1', true, ofV1],
    ] as const)
      await readUntil(
        () => hasKey(connection, `test:state:{3-v3-${id}}`),
        async () => first?.(isV1, state),
      );
    expect(await second?.(false)).toEqual(STATE);
    expect(await second?.(true)).toEqual(ofV1);
  });

  test('reads each block with its trades, and the parameters, once for four replicas', async () => {
    const fleet = await start(4);
    let before: readonly number[];
    let alone: number;
    const BLOCKS = 10;
    const blocks = () => fleet.sandbox.node.calls('retrievebeaconblockbyheight');
    let blocksBefore: number;
    do {
      await fleet.settled();
      await untilTraded(fleet);
      blocksBefore = blocks();
      alone = timesAlone(fleet.all);
      before = reads(fleet);
      for (let block = 0; block < BLOCKS; block++) await fleet.advance();
      await untilTraded(fleet);
    } while (timesAlone(fleet.all) !== alone);
    const [tips = 0, ofV1, ofV3] = reads(fleet).map((calls, n) => calls - (before[n] ?? 0));
    expect(tips).toBeLessThanOrEqual(1.1 * BLOCKS);
    // The pools and the parameters.
    expect([ofV1, ofV3]).toEqual([0, 2 * BLOCKS]);
    expect(blocks() - blocksBefore).toBe(BLOCKS);
  });

  test('sends the same pools as changed at each replica, and not all of them', async () => {
    const fleet = await start(3);
    const ONLY_CHANGED =
      'subscription { prices(onlyChanged: true) { beaconHeight poolPairs { key token1PoolValue } } }';
    const streams = fleet.all.map((replica) => dataOf(replica.subscribe(ONLY_CHANGED)));
    const next = () => Promise.all(streams.map(async (stream) => (await stream.next()).value.prices));
    await next();
    const { chain } = fleet.sandbox;
    for (let blocks = 0; blocks < 4; blocks++) {
      const before = chain.tip;
      fleet.sandbox.advance();
      const after = chain.tip;
      const changed = chain.v3Pools
        .map(({ id }) => id)
        .filter((id) => JSON.stringify(stateOf(before, id)) !== JSON.stringify(stateOf(after, id)))
        .sort();
      expect(changed.length).toBeLessThan(chain.v3Pools.length);
      for (const { beaconHeight, poolPairs } of await next()) {
        expect(beaconHeight).toBe(after.height);
        expect(poolPairs.map(({ key }: { key: string }) => key)).toEqual(changed);
      }
    }
    await Promise.all(streams.map((stream) => stream.return(undefined)));
  });

  test('tells a replica that cannot reach a node which version trades', async () => {
    const { sandbox } = await start(2);
    const prefix = `v3-${fleets}`;
    const apart = await startReplica(redis, {
      prefix,
      of: sandbox,
      configOf: () => ({ fullnodeUrl: [new URL('http://127.0.0.1:1')] }),
    });
    await apart.untilReady();
    const { data } = await apart.ask('{ service { exchangeVersion } poolPairs { totalCount } }');
    expect(data).toEqual({
      service: { exchangeVersion: 'V3' },
      poolPairs: { totalCount: sandbox.chain.v3Pools.length },
    });
  });

  test('does not go back to V1 when a replica publishes its pools', async () => {
    const fleet = await start(2);
    const prefix = `v3-${fleets}`;
    const fixed = await startReplica(redis, { prefix, of: fleet.sandbox, config: { exchangeVersion: 'v1' } });
    const poolsOf = async (replica: Replica) => (await replica.ask('{ poolPairs { totalCount } }')).data.poolPairs;
    for (let blocks = 0; blocks < 6; blocks++) {
      await fleet.advance();
      for (const replica of fleet.all)
        expect(await poolsOf(replica)).toEqual({ totalCount: fleet.sandbox.chain.v3Pools.length });
    }
    const warnings = () => fixed.lines.filter(({ msg }) => msg.includes('than EXCHANGE_VERSION'));
    await expect.poll(warnings).toMatchObject([{ level: WARN, exchangeVersion: 'V3' }]);
    for (const { lines } of fleet.all) expect(lines.filter(({ msg }) => msg.includes('EXCHANGE_VERSION'))).toEqual([]);
  });
});

type SandboxBlock = TestFleet['sandbox']['chain']['tip'];

/** What makes a pool another one for a subscriber, as text. */
function stateOf({ v3 }: SandboxBlock, id: string): unknown {
  const state = v3?.states.get(id);
  if (state === undefined) return undefined;
  const { real, virtual, orders } = state;
  return [real.map(String), virtual.map(String), orders.map((order) => [order.id, order.balances.map(String)])];
}
