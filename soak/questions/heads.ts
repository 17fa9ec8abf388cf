import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../../src/sandbox/world/random.ts';
import type { Question } from '../judge.ts';
import { pick, type Stage } from '../stage.ts';
import { BEST_BLOCK_FIELDS, bestBlocksAt } from '../truth/chain-info.ts';
import { listMisfit } from '../truth/market.ts';
import { POOL_FIELDS, type PoolTold, poolsAt } from '../truth/pools.ts';

type Told = {
  readonly beaconHeight?: number;
  readonly service?: { readonly head: { readonly beaconHeight: number; readonly hash: string; readonly time: string } };
  readonly chainInfo?: { readonly activeShards: number; readonly chainName: string; readonly bestBlocks: unknown[] };
  readonly bestBlock?: unknown;
  readonly poolPairs?: { readonly totalCount: number; readonly nodes: readonly PoolTold[] };
  readonly poolPair?: PoolTold | null;
};

/** All that the gateway tells of the newest block, in one answer: every field must be of the same block. */
export function askWholeHead({ shown, served }: Stage, random: Random): Question {
  const { world } = shown;
  const pool = pick(random, world.pools);
  const chainId = random.below(9) - 1;
  return {
    kind: 'a head, whole',
    query: `query ($a: TokenId!, $b: TokenId!, $chainId: Int!) {
      beaconHeight
      poolPairs(first: 100) { totalCount nodes { ${POOL_FIELDS} } }
      chainInfo { chainName activeShards bestBlocks { ${BEST_BLOCK_FIELDS} } }
      bestBlock(chainId: $chainId) { ${BEST_BLOCK_FIELDS} }
      poolPair(token1Id: $a, token2Id: $b) { ${POOL_FIELDS} }
      service { head { beaconHeight hash time } }
    }`,
    variables: { a: pool.token2.id, b: pool.token1.id, chainId },
    check(data: Told, moment) {
      const height = data.beaconHeight ?? data.service?.head.beaconHeight;
      if (height === undefined) return undefined;
      return served.misfit(height, moment, (block) => {
        const pools = poolsAt(world, block);
        const blocks = bestBlocksAt(world, block);
        const time = new Date(block.time * 1_000).toISOString();
        const { service, chainInfo, bestBlock, poolPairs, poolPair } = data;
        if (service && !isDeepStrictEqual(service.head, { beaconHeight: height, hash: block.hash, time }))
          return `service.head is not of block ${block.hash}`;
        if (chainInfo && (chainInfo.activeShards !== 8 || chainInfo.chainName !== 'sandbox')) return 'chainInfo';
        return (
          (chainInfo && listMisfit(chainInfo.bestBlocks, blocks, 'bestBlocks')) ??
          (bestBlock === undefined ? undefined : listMisfit([bestBlock], [blocks[chainId + 1]], 'bestBlock')) ??
          (poolPairs && listMisfit(poolPairs.nodes, [...pools.values()], 'poolPairs')) ??
          (poolPair === undefined
            ? undefined
            : listMisfit([poolPair], [pools.get(`PoolPair:${pool.id}`) ?? null], 'poolPair'))
        );
      });
    },
  };
}

/** One pool and the height, as the smallest of clients asks. */
export function askOnePool({ shown, served }: Stage, random: Random): Question {
  const { world } = shown;
  const pool = pick(random, world.pools);
  return {
    kind: 'one pool',
    query: `query ($a: TokenId!, $b: TokenId!) { beaconHeight poolPair(token1Id: $a, token2Id: $b) { ${POOL_FIELDS} } }`,
    variables: { a: pool.token1.id, b: pool.token2.id },
    check({ beaconHeight: height, poolPair }: Told, moment) {
      if (height === undefined || poolPair === undefined) return undefined;
      return served.misfit(height, moment, (block) =>
        listMisfit([poolPair], [poolsAt(world, block).get(`PoolPair:${pool.id}`) ?? null], 'poolPair'),
      );
    },
  };
}
