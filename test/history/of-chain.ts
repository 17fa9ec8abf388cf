import type { FinalBlock } from '../../src/history/store.ts';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';
import { exchangeStateOf } from '../domain/pools.ts';
import { v3StateOf } from './v3-states.ts';

/** A height of the sandbox's chain, as the gateway reads it. */
export type ChainHeight = FinalBlock & { readonly beaconHeight: number; readonly hash: string };

/** The heights of the sandbox's chain, ascending. */
export function chainHeights({ chain }: SandboxHosts, from: number, to = chain.tip.height): readonly ChainHeight[] {
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const beaconHeight = from + index;
    const block = chain.block(beaconHeight);
    if (block === undefined) throw new Error(`the chain has no block ${beaconHeight}`);
    const pools = chain.poolsAt(beaconHeight).map((pool) => ({
      beaconHeight,
      token1Id: pool.token1.id,
      token2Id: pool.token2.id,
      reserve1: chain.reserves(pool, beaconHeight)?.reserve1 ?? 0n,
      reserve2: chain.reserves(pool, beaconHeight)?.reserve2 ?? 0n,
    }));
    const time = block.time * 1_000;
    const exchange = exchangeStateOf(beaconHeight, pools, time);
    return { beaconHeight, hash: block.hash, time, version: 'V1', exchange };
  });
}

/** The same, with pools of V3 from its start on. */
export function exchangeHeights(sandbox: SandboxHosts, from: number, to: number): readonly ChainHeight[] {
  const { chain } = sandbox;
  return chainHeights(sandbox, from, to).map((height) => {
    const { beaconHeight, time } = height;
    if (beaconHeight < chain.v3From) return height;
    const states = chain.block(beaconHeight)?.v3?.states;
    const pools = chain.v3Pools.map(({ id }) => ({
      id,
      reserves: states?.get(id)?.virtual ?? ([0n, 0n] as const),
    }));
    return { ...height, version: 'V3', exchange: v3StateOf(beaconHeight, pools, time) };
  });
}
