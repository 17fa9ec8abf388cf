import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import type { Question } from '../judge.ts';
import { pick, type Stage } from '../stage.ts';
import { BEST_BLOCK_FIELDS, bestBlocksAt } from '../truth/chain-info.ts';
import { listMisfit } from '../truth/market.ts';
import { POOL_FIELDS, poolsAt } from '../truth/pools.ts';

type Told = {
  readonly beaconHeight?: number;
  readonly service?: { readonly head: object };
  readonly chainInfo?: object;
  readonly bestBlock?: object;
  readonly poolPairs?: { readonly nodes: readonly unknown[] };
  readonly poolPair?: object | null;
};

const CHAIN = { chainName: 'sandbox', activeShards: 8 } as const;

/** All that the gateway tells of the newest block, in one answer: every field must be of the same block. */
export function askWholeHead({ shown, served }: Stage, random: Random): Question {
  const { chain } = shown;
  const pool = pick(random, chain.pools);
  const chainId = random.below(9) - 1;
  return {
    kind: 'a whole head',
    query: `query ($a: TokenId!, $b: TokenId!, $chainId: Int!) {
      beaconHeight
      poolPairs(first: 100) { totalCount nodes { ${POOL_FIELDS} } }
      chainInfo { chainName activeShards bestBlocks { ${BEST_BLOCK_FIELDS} } }
      bestBlock(chainId: $chainId) { ${BEST_BLOCK_FIELDS} }
      poolPair(token1Id: $a, token2Id: $b) { ${POOL_FIELDS} }
      service { head { hash time } }
    }`,
    variables: { a: pool.token2.id, b: pool.token1.id, chainId },
    check(data: Told, moment) {
      const height = data.beaconHeight;
      if (height === undefined) return undefined;
      const { service, chainInfo, bestBlock, poolPairs, poolPair } = data;

      function ofChain(block: Block): string | undefined {
        const blocks = bestBlocksAt(chain, block);
        const head = { hash: block.hash, time: new Date(block.time * 1_000).toISOString() };
        return (
          (service && listMisfit([service.head], [head], 'service.head')) ??
          (chainInfo && listMisfit([chainInfo], [{ ...CHAIN, bestBlocks: blocks }], 'chainInfo')) ??
          (bestBlock && listMisfit([bestBlock], [blocks[chainId + 1]], 'bestBlock'))
        );
      }
      function ofPools(block: Block): string | undefined {
        const pools = poolsAt(chain, block);
        const all = { totalCount: pools.size, nodes: [...pools.values()] };
        const one = pools.get(`PoolPair:${pool.id}`) ?? null;
        return (
          (poolPairs && listMisfit(poolPairs.nodes, all.nodes, 'poolPairs')) ??
          (poolPairs && listMisfit([poolPairs], [all], 'poolPairs')) ??
          (poolPair === undefined ? undefined : listMisfit([poolPair], [one], 'poolPair'))
        );
      }
      return served.misfitOfHead(height, moment, ofChain, ofPools);
    },
  };
}

/** One pool and the height, as the smallest of clients asks. */
export function askOnePool({ shown, served }: Stage, random: Random): Question {
  const { chain } = shown;
  const pool = pick(random, chain.pools);
  return {
    kind: 'one pool',
    query: `query ($a: TokenId!, $b: TokenId!) { beaconHeight poolPair(token1Id: $a, token2Id: $b) { ${POOL_FIELDS} } }`,
    variables: { a: pool.token1.id, b: pool.token2.id },
    check({ beaconHeight: height, poolPair }: Told, moment) {
      if (height === undefined || poolPair === undefined) return undefined;
      return served.misfit(height, moment, (block) =>
        listMisfit([poolPair], [poolsAt(chain, block).get(`PoolPair:${pool.id}`) ?? null], 'poolPair'),
      );
    },
  };
}
