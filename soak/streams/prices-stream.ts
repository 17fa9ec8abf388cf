import type { Random } from '../../src/sandbox/world/random.ts';
import { pick, type Stage } from '../stage.ts';
import { listMisfit } from '../truth/market.ts';
import { POOL_FIELDS, type PoolTold, poolsAt } from '../truth/pools.ts';
import { createHeights, type Stream } from './stream.ts';

type Update = {
  readonly beaconHeight: number;
  readonly previousHeight: number | null;
  readonly blockTime: string;
  readonly poolPairs: readonly PoolTold[];
};

/** What one listener wants of the prices. */
type Wish = { readonly onlyChanged: boolean; readonly pools?: readonly string[]; readonly tokens?: readonly string[] };

const QUERY = `subscription ($onlyChanged: Boolean!, $poolPairs: [PoolPairKey!], $tokenIds: [TokenId!]) {
  prices(onlyChanged: $onlyChanged, poolPairs: $poolPairs, tokenIds: $tokenIds) {
    beaconHeight previousHeight blockTime poolPairs { ${POOL_FIELDS} }
  }
}`;

/** Follows prices of all pools, or of some. */
export function createPricesStream(stage: Stage, random: Random): Stream {
  const { pools, tokens } = stage.shown.world;
  const onlyChanged = random.chance(0.5);
  return follow(
    stage,
    pick<Wish>(random, [
      { onlyChanged },
      { onlyChanged, tokens: [pick(random, tokens).id] },
      { onlyChanged, pools: [pick(random, pools).id, pick(random, pools).id] },
      { onlyChanged, pools: [pick(random, pools).id], tokens: [pick(random, tokens).id] },
    ]),
  );
}

/** Follows the prices of all pools, with every field: the largest updates there are. */
export function createAllPricesStream(stage: Stage): Stream {
  return follow(stage, { onlyChanged: false });
}

function follow({ shown, served }: Stage, wish: Wish): Stream {
  const { onlyChanged, pools, tokens } = wish;
  const heights = createHeights();
  const reserves = new Map<string, string>();
  let isFirst = true;

  function isWanted(id: string): boolean {
    if (pools === undefined && tokens === undefined) return true;
    const named = id.replace('PoolPair:', '');
    return (pools?.includes(named) ?? false) || named.split('-').some((token) => tokens?.includes(token));
  }
  const reservesOf = (pool: PoolTold) => `${pool.token1PoolValue}/${pool.token2PoolValue}`;

  function misfit(update: Update): string | undefined {
    return served.misfitAt(update.beaconHeight, (block) => {
      const expected = [...poolsAt(shown.world, block).values()].filter(
        (pool) => isWanted(pool.id) && (isFirst || !onlyChanged || reserves.get(pool.id) !== reservesOf(pool)),
      );
      return listMisfit(update.poolPairs, expected, 'poolPairs');
    });
  }

  return {
    kind: onlyChanged ? 'prices that changed' : 'prices',
    source: 'head',
    query: QUERY,
    variables: {
      onlyChanged,
      poolPairs: pools?.map((id) => ({ token1Id: id.split('-')[1], token2Id: id.split('-')[0] })),
      tokenIds: tokens,
    },
    take(data) {
      const update = data['prices'] as Update;
      const before = heights.last() ?? null;
      const wrong =
        heights.step(update.beaconHeight) ??
        (update.previousHeight === before ? undefined : `previousHeight ${update.previousHeight} after ${before}`) ??
        served.misfitOfChain(update.beaconHeight, (block) =>
          new Date(block.time * 1_000).toISOString() === update.blockTime ? undefined : `blockTime ${update.blockTime}`,
        ) ??
        misfit(update);
      isFirst = false;
      for (const pool of update.poolPairs) reserves.set(pool.id, reservesOf(pool));
      return wrong;
    },
    height: heights.last,
    missed: heights.missed,
  };
}
