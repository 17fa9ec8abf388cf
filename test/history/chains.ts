import fc from 'fast-check';
import type { FinalBlock } from '../../src/history/store.ts';
import { anyReserve, exchangeStateOf, poolOf, tokenId } from '../domain/pools.ts';

/** When the chains of the tests begin. */
export const START = Date.UTC(2026, 0, 1, 23, 30);

/** The pools of the tests, in an order that is not that of their ids. */
const TOKENS = ['d', 'b', 'e', 'a', 'c'];

/** The ids of all pools that a chain can have. */
export const POOL_IDS = TOKENS.map((token) => `${tokenId('0')}-${tokenId(token)}`);

const anyChange = fc.record({
  pool: fc.nat(TOKENS.length - 1),
  reserve1: anyReserve,
  reserve2: anyReserve,
});

/** Seconds from one block to the next: often in the same minute, at times in another day. */
const anySeconds = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 40 }) },
  { weight: 3, arbitrary: fc.integer({ min: 60, max: 1_500 }) },
  { weight: 2, arbitrary: fc.integer({ min: 3_000, max: 20_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 80_000, max: 3_000_000 }) },
);

const anyBlock = fc.record({ seconds: anySeconds, changes: fc.array(anyChange, { maxLength: 3 }) });

/** Consecutive blocks whose pools change, and appear. */
export const anyChain: fc.Arbitrary<readonly FinalBlock[]> = fc
  .record({ first: fc.constantFrom(1, 2, 1_000), blocks: fc.array(anyBlock, { minLength: 1, maxLength: 40 }) })
  .map(({ first, blocks }) => {
    const pools = new Map<number, [bigint, bigint]>();
    let time = START;
    return blocks.map(({ seconds, changes }, index) => {
      time += seconds * 1000;
      for (const { pool, reserve1, reserve2 } of changes) pools.set(pool, [reserve1, reserve2]);
      return blockOf(first + index, time, pools);
    });
  });

/** A block of a chain. @param pools the reserves by the place in {@link POOL_IDS} */
export function blockOf(
  height: number,
  time: number,
  pools: ReadonlyMap<number, readonly [bigint, bigint]>,
): FinalBlock {
  const states = [...pools].map(([pool, [reserve1, reserve2]]) =>
    poolOf(reserve1, reserve2, { beaconHeight: height, token1Id: tokenId('0'), token2Id: tokenId(TOKENS[pool] ?? '') }),
  );
  return { hash: `hash-${height}`, time, exchange: exchangeStateOf(height, states, time) };
}
