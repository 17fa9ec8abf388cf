import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type Stage } from '../stage.ts';
import { listMisfit } from '../truth/market.ts';
import { POOL_FIELDS, type PoolTold, poolsAt } from '../truth/pools.ts';
import { createHeights, type Stream } from './stream.ts';

type Update = {
  readonly beaconHeight: number;
  readonly previousHeight: number | null;
  readonly missedHeights: number;
  readonly blockTime: string;
  readonly poolPairs: readonly PoolTold[];
};

/** What one listener wants of the prices. */
type Wish = { readonly onlyChanged: boolean; readonly pools?: readonly string[]; readonly tokens?: readonly string[] };

const QUERY = `subscription ($onlyChanged: Boolean!, $poolPairs: [PoolPairKey!], $tokenIds: [TokenId!], $afterHeight: BeaconHeight) {
  prices(onlyChanged: $onlyChanged, poolPairs: $poolPairs, tokenIds: $tokenIds, afterHeight: $afterHeight) {
    beaconHeight previousHeight missedHeights blockTime poolPairs { ${POOL_FIELDS} }
  }
}`;

/** Follows prices of all pools, or of some. */
export function createPricesStream(stage: Stage, random: Random): Stream {
  const { pools, tokens } = stage.shown.chain;
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
export function createAllPricesStream(stage: Stage, after?: number): Stream {
  return follow(stage, { onlyChanged: false }, after);
}

/** So many of the newest heights are kept for those who come back. */
const HEIGHTS_KEPT = 32;

function follow(stage: Stage, wish: Wish, after?: number): Stream {
  const { shown, served } = stage;
  const { onlyChanged, pools, tokens } = wish;
  const heights = createHeights(after);
  const timesTold = new Map<number, number>(after === undefined ? [] : [[after, 1]]);
  const newestAtStart = served.highest();
  const reserves = new Map<string, string>();
  let isFirst = true;

  function isWanted(id: string): boolean {
    if (pools === undefined && tokens === undefined) return true;
    const named = id.replace('PoolPair:', '');
    return (pools?.includes(named) ?? false) || named.split('-').some((token) => tokens?.includes(token));
  }
  const reservesOf = (pool: PoolTold) => `${pool.token1PoolValue}/${pool.token2PoolValue}`;

  /** What is wrong with the height of an update, seen from the one before. */
  function stepMisfit({ beaconHeight, previousHeight, missedHeights }: Update): string | undefined {
    const before = heights.last();
    const missed = before === undefined ? 0 : Math.max(0, beaconHeight - before - 1);
    const times = (timesTold.get(beaconHeight) ?? 0) + 1;
    timesTold.set(beaconHeight, times);
    return (
      heights.step(beaconHeight) ??
      (previousHeight === (before ?? null) ? undefined : `previousHeight ${previousHeight} after ${before}`) ??
      (missedHeights === missed ? undefined : `missedHeights ${missedHeights} between ${before} and ${beaconHeight}`) ??
      (times <= shown.at(beaconHeight).length ? undefined : `height ${beaconHeight} for the ${times}. time`) ??
      (before === undefined || after === undefined ? undefined : owedMisfit(before, beaconHeight))
    );
  }

  /** A height that was told before a listener came back, and that is still kept, must not be passed over. */
  function owedMisfit(before: number, height: number): string | undefined {
    const oldestKept = shown.chain.tip.height - HEIGHTS_KEPT + 1;
    for (let owed = Math.max(before + 1, oldestKept); owed < Math.min(height, newestAtStart + 1); owed++)
      if (served.wasTold(owed))
        return `${owed} is passed over between ${before} and ${height}, who came back after ${after}`;
    return undefined;
  }

  function misfit(update: Update): string | undefined {
    const isOfTime = (block: Block) => new Date(block.time * 1_000).toISOString() === update.blockTime;
    const ofChain = (block: Block) => (isOfTime(block) ? undefined : `blockTime ${update.blockTime}`);
    return served.misfitOfHeadAt(update.beaconHeight, ofChain, (block) => {
      const expected = [...poolsAt(shown.chain, block).values()].filter(
        (pool) => isWanted(pool.id) && (isFirst || !onlyChanged || reserves.get(pool.id) !== reservesOf(pool)),
      );
      return listMisfit(update.poolPairs, expected, 'poolPairs');
    });
  }

  return {
    kind: onlyChanged ? 'prices that changed' : 'prices',
    source: 'head',
    query: QUERY,
    after,
    variables: {
      onlyChanged,
      poolPairs: pools?.map((id) => ({ token1Id: id.split('-')[1], token2Id: id.split('-')[0] })),
      tokenIds: tokens,
    },
    take(data) {
      const update = data['prices'] as Update;
      const wrong = stepMisfit(update) ?? misfit(update);
      isFirst = false;
      for (const pool of update.poolPairs) reserves.set(pool.id, reservesOf(pool));
      return wrong;
    },
    height: heights.last,
    missed: heights.missed,
    resumed() {
      const last = heights.last();
      return last === undefined ? undefined : follow(stage, wish, last);
    },
  };
}
