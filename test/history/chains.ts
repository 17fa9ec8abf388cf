import fc from 'fast-check';
import { type ExchangeState, toPoolDirectory } from '../../src/domain/exchange.ts';
import type { ExchangeVersion } from '../../src/domain/pool-pair.ts';
import type { FinalBlock, StoredState } from '../../src/history/store.ts';
import { anyReserve, tokenId } from '../domain/pools.ts';

/** When the chains of the tests begin. */
export const START = Date.UTC(2026, 0, 1, 23, 30);

/** The pools of the tests, in an order that is not that of their ids. */
const TOKENS = ['d', 'b', 'e', 'a', 'c'];

/** The ids of all pools of V1 that a chain can have. */
export const POOL_IDS = TOKENS.map((token) => `${tokenId('0')}-${tokenId(token)}`);

/** The same of V3: three of them have the tokens of one pool of V1. */
export const V3_POOL_IDS = ['d9', 'b2', 'd1', 'a5', 'd4'].map(
  (name) => `${tokenId('0')}-${tokenId(name.slice(0, 1))}-${tokenId(name)}`,
);

/** The amounts of V3 can exceed 64 bits. */
const anyVirtual = fc.oneof(anyReserve, fc.bigInt(2n ** 64n, 2n ** 90n));

const anyChange = fc.record({
  pool: fc.nat(TOKENS.length - 1),
  reserves: fc.tuple(anyReserve, anyReserve),
  virtual: fc.tuple(anyVirtual, anyVirtual),
});

/** Seconds from one block to the next: often in the same minute, at times in another day. */
const anySeconds = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 40 }) },
  { weight: 3, arbitrary: fc.integer({ min: 60, max: 1_500 }) },
  { weight: 2, arbitrary: fc.integer({ min: 3_000, max: 20_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 80_000, max: 3_000_000 }) },
);

/** The version of each block: one version, one from some block on, or any. */
const anyVersions: fc.Arbitrary<(index: number) => ExchangeVersion> = fc.oneof(
  fc.constantFrom<ExchangeVersion>('V1', 'V3').map((version) => () => version),
  fc.nat(40).map((first) => (index: number) => (index < first ? 'V1' : 'V3')),
  fc.infiniteStream(fc.boolean()).map((stream) => {
    const drawn = [...stream.take(40)];
    return (index: number) => (drawn[index] ? 'V1' : 'V3');
  }),
);

const anyBlock = fc.record({ seconds: anySeconds, changes: fc.array(anyChange, { maxLength: 3 }) });

/** Consecutive blocks whose pools change, and appear. */
export const anyChain: fc.Arbitrary<readonly FinalBlock[]> = fc
  .record({
    first: fc.constantFrom(1, 2, 1_000),
    blocks: fc.array(anyBlock, { minLength: 1, maxLength: 40 }),
    versionOf: anyVersions,
  })
  .map(({ first, blocks, versionOf }) => {
    const pools = { V1: new Map<number, Amounts>(), V3: new Map<number, Amounts>() };
    let time = START;
    return blocks.map(({ seconds, changes }, index) => {
      time += seconds * 1000;
      const version = versionOf(index);
      for (const { pool, reserves, virtual } of changes)
        pools[version].set(pool, version === 'V1' ? reserves : virtual);
      return blockOf(first + index, time, pools[version], version);
    });
  });

type Amounts = readonly [bigint, bigint];

/** A block of a chain. @param pools the reserves by the place in {@link POOL_IDS}, or in {@link V3_POOL_IDS} */
export function blockOf(
  height: number,
  time: number,
  pools: ReadonlyMap<number, Amounts>,
  version: ExchangeVersion = 'V1',
): FinalBlock {
  const ids = version === 'V1' ? POOL_IDS : V3_POOL_IDS;
  const states = [...pools].map(([pool, amounts]) => [ids[pool] ?? '', amounts] as const);
  states.sort(([a], [b]) => (a < b ? -1 : 1));
  const amounts = states.flatMap(([, each]) => each);
  const exchange = {
    beaconHeight: height,
    time,
    directory: toPoolDirectory(states.map(([id]) => id)),
    reserves: version === 'V1' ? BigUint64Array.from(amounts) : amounts,
  };
  return { hash: `hash-${height}`, time, version, exchange };
}

/** What a store returns of a state that it has recorded. */
export function storedOf({ beaconHeight, time, reserves, directory: { ids } }: ExchangeState): StoredState {
  return { beaconHeight, time, reserves, directory: { ids } };
}
