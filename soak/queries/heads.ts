import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { BEST_BLOCK_FIELDS, expectedBestBlocks } from '../expected/chain-info.ts';
import { listMismatch } from '../expected/market.ts';
import { expectedPools, POOL_FIELDS } from '../expected/pools.ts';
import type { Operation } from '../judge.ts';

type Data = {
  readonly beaconHeight?: number;
  readonly service?: { readonly head: object };
  readonly chainInfo?: object;
  readonly bestBlock?: object;
  readonly poolPairs?: { readonly nodes: readonly unknown[] };
  readonly poolPair?: object | null;
};

const CHAIN = { chainName: 'sandbox', activeShards: 8 } as const;

/** Everything about the newest block in one response: all fields must be of the same block. */
export function headQuery({ shown, served }: SoakContext, random: Random): Operation {
  const { chain } = shown;
  const pool = pick(random, chain.pools);
  const chainId = random.below(9) - 1;
  return {
    kind: 'a whole head',
    query: `query ($a: TokenId!, $b: TokenId!, $chainId: Int!) {
      beaconHeight
      poolPairs(first: 100, orderBy: ID_ASC) { totalCount nodes { ${POOL_FIELDS} } }
      chainInfo { chainName activeShards bestBlocks { ${BEST_BLOCK_FIELDS} } }
      bestBlock(chainId: $chainId) { ${BEST_BLOCK_FIELDS} }
      poolPair(token1Id: $a, token2Id: $b) { ${POOL_FIELDS} }
      service { head { hash time } }
    }`,
    variables: { a: pool.token2.id, b: pool.token1.id, chainId },
    check(data: Data, times) {
      const height = data.beaconHeight;
      if (height === undefined) return undefined;
      const { service, chainInfo, bestBlock, poolPairs, poolPair } = data;

      function ofChain(block: Block): string | undefined {
        const blocks = expectedBestBlocks(chain, block);
        const head = { hash: block.hash, time: new Date(block.time * 1_000).toISOString() };
        return (
          (service && listMismatch([service.head], [head], 'service.head')) ??
          (chainInfo && listMismatch([chainInfo], [{ ...CHAIN, bestBlocks: blocks }], 'chainInfo')) ??
          (bestBlock && listMismatch([bestBlock], [blocks[chainId + 1]], 'bestBlock'))
        );
      }
      function ofPools(block: Block): string | undefined {
        const pools = expectedPools(chain, block);
        const all = { totalCount: pools.size, nodes: [...pools.values()] };
        const one = pools.get(`PoolPair:${pool.id}`) ?? null;
        return (
          (poolPairs && listMismatch(poolPairs.nodes, all.nodes, 'poolPairs')) ??
          (poolPairs && listMismatch([poolPairs], [all], 'poolPairs')) ??
          (poolPair === undefined ? undefined : listMismatch([poolPair], [one], 'poolPair'))
        );
      }
      return served.mismatch(height, times, (block) => ofChain(block) ?? ofPools(block));
    },
  };
}

/** One pool and the height: the smallest query. */
export function poolQuery({ shown, served }: SoakContext, random: Random): Operation {
  const { chain } = shown;
  const pool = pick(random, chain.pools);
  return {
    kind: 'one pool',
    query: `query ($a: TokenId!, $b: TokenId!) { beaconHeight poolPair(token1Id: $a, token2Id: $b) { ${POOL_FIELDS} } }`,
    variables: { a: pool.token1.id, b: pool.token2.id },
    check({ beaconHeight: height, poolPair }: Data, times) {
      if (height === undefined || poolPair === undefined) return undefined;
      return served.mismatch(height, times, (block) =>
        listMismatch([poolPair], [expectedPools(chain, block).get(`PoolPair:${pool.id}`) ?? null], 'poolPair'),
      );
    },
  };
}
