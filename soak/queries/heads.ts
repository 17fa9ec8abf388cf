import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { BEST_BLOCK_FIELDS, expectedBestBlocks } from '../expected/chain-info.ts';
import { isV3, type TradingPool, tradingPools } from '../expected/exchange.ts';
import { fieldMismatch, listMismatch } from '../expected/market.ts';
import { expectedPoolOf, expectedPools, POOL_FIELDS } from '../expected/pools.ts';
import type { Operation } from '../judge.ts';

type Data = {
  readonly beaconHeight?: number;
  readonly service?: { readonly head: object | null } | null;
  readonly chainInfo?: object | null;
  readonly bestBlock?: object | null;
  readonly poolPairs?: { readonly nodes: readonly unknown[] } | null;
  readonly poolPair?: object | null;
  readonly pool?: object | null;
};

const CHAIN = { chainName: 'sandbox', activeShards: 8 } as const;

/** Compares the pool of two tokens, and the pool of an id, with those of a block. */
function poolMismatch(chain: Chain, of: TradingPool, { poolPair, pool }: Data, block: Block): string | undefined {
  const byId = () => expectedPools(chain, block).get(`PoolPair:${of.id}`) ?? null;
  return (
    (poolPair === undefined ? undefined : listMismatch([poolPair], [expectedPoolOf(chain, block, of)], 'poolPair')) ??
    (pool === undefined ? undefined : listMismatch([pool], [byId()], 'pool'))
  );
}

/** Everything about the newest block in one response: all fields must be of the same block. */
export function headQuery({ shown, served }: SoakContext, random: Random): Operation {
  const { chain } = shown;
  const pool = pick(random, tradingPools(chain));
  const chainId = random.below(9) - 1;
  return {
    kind: 'a whole head',
    query: `query ($a: TokenId!, $b: TokenId!, $poolId: String!, $byId: Boolean!, $chainId: Int!) {
      beaconHeight
      poolPairs(first: 100, orderBy: ID_ASC) { totalCount nodes { ${POOL_FIELDS} } }
      chainInfo { chainName activeShards bestBlocks { ${BEST_BLOCK_FIELDS} } }
      bestBlock(chainId: $chainId) { ${BEST_BLOCK_FIELDS} }
      poolPair(token1Id: $a, token2Id: $b) { ${POOL_FIELDS} }
      pool(poolId: $poolId) @include(if: $byId) { ${POOL_FIELDS} }
      service { head { hash time } }
    }`,
    variables: { a: pool.token2.id, b: pool.token1.id, poolId: pool.id, byId: isV3(chain), chainId },
    check(data: Data, times) {
      const height = data.beaconHeight;
      if (height === undefined) return undefined;
      const { service, chainInfo, bestBlock, poolPairs } = data;

      function ofChain(block: Block): string | undefined {
        const blocks = expectedBestBlocks(chain, block);
        const head = { hash: block.hash, time: new Date(block.time * 1_000).toISOString() };
        return (
          fieldMismatch(service, 'service', (actual) => listMismatch([actual.head], [head], 'service.head')) ??
          fieldMismatch(chainInfo, 'chainInfo', (actual) =>
            listMismatch([actual], [{ ...CHAIN, bestBlocks: blocks }], 'chainInfo'),
          ) ??
          fieldMismatch(bestBlock, 'bestBlock', (actual) => listMismatch([actual], [blocks[chainId + 1]], 'bestBlock'))
        );
      }
      function ofPools(block: Block): string | undefined {
        const pools = expectedPools(chain, block);
        const all = { totalCount: pools.size, nodes: [...pools.values()] };
        return (
          fieldMismatch(
            poolPairs,
            'poolPairs',
            (actual) =>
              listMismatch(actual.nodes, all.nodes, 'poolPairs') ?? listMismatch([actual], [all], 'poolPairs'),
          ) ?? poolMismatch(chain, pool, data, block)
        );
      }
      return served.mismatch(height, times, (block) => ofChain(block) ?? ofPools(block));
    },
  };
}

/** One pool and the height: the smallest query. */
export function poolQuery({ shown, served }: SoakContext, random: Random): Operation {
  const { chain } = shown;
  const pool = pick(random, tradingPools(chain));
  const byId = isV3(chain) && random.chance(0.5);
  return {
    kind: 'one pool',
    ...(byId
      ? {
          query: `query ($poolId: String!) { beaconHeight pool(poolId: $poolId) { ${POOL_FIELDS} } }`,
          variables: { poolId: pool.id },
        }
      : {
          query: `query ($a: TokenId!, $b: TokenId!) { beaconHeight poolPair(token1Id: $a, token2Id: $b) { ${POOL_FIELDS} } }`,
          variables: { a: pool.token1.id, b: pool.token2.id },
        }),
    check(data: Data, times) {
      const { beaconHeight: height } = data;
      if (height === undefined) return undefined;
      return served.mismatch(height, times, (block) => poolMismatch(chain, pool, data, block));
    },
  };
}
