import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { listMismatch } from '../expected/market.ts';
import { expectedPools, POOL_FIELDS, type PoolResult } from '../expected/pools.ts';
import { DEFAULT_LIMITS } from '../queries/service.ts';
import { type CheckedSubscription, createHeights } from './subscription.ts';

type Update = {
  readonly beaconHeight: number;
  readonly previousHeight: number | null;
  readonly missedHeights: number;
  readonly blockTime: string;
  readonly poolPairs: readonly PoolResult[];
};

/** The arguments of a subscription to prices. */
type Selection = {
  readonly onlyChanged: boolean;
  readonly pools?: readonly string[];
  readonly tokens?: readonly string[];
};

const QUERY = `subscription ($onlyChanged: Boolean!, $poolPairs: [PoolPairKey!], $tokenIds: [TokenId!], $afterHeight: BeaconHeight) {
  prices(onlyChanged: $onlyChanged, poolPairs: $poolPairs, tokenIds: $tokenIds, afterHeight: $afterHeight) {
    beaconHeight previousHeight missedHeights blockTime poolPairs { ${POOL_FIELDS} }
  }
}`;

/** A subscription to the prices of all or some pools. */
export function createPricesSubscription(context: SoakContext, random: Random): CheckedSubscription {
  const { pools, tokens } = context.shown.chain;
  const onlyChanged = random.chance(0.5);
  return subscribe(
    context,
    pick<Selection>(random, [
      { onlyChanged },
      { onlyChanged, tokens: [pick(random, tokens).id] },
      { onlyChanged, pools: [pick(random, pools).id, pick(random, pools).id] },
      { onlyChanged, pools: [pick(random, pools).id], tokens: [pick(random, tokens).id] },
    ]),
  );
}

/** A subscription to all prices with every field: the largest updates. */
export function createAllPricesSubscription(context: SoakContext, after?: number): CheckedSubscription {
  return subscribe(context, { onlyChanged: false }, after);
}

function subscribe(context: SoakContext, selection: Selection, after?: number): CheckedSubscription {
  const { shown, served } = context;
  const { onlyChanged, pools, tokens } = selection;
  const heights = createHeights(after);
  const timesReceived = new Map<number, number>(after === undefined ? [] : [[after, 1]]);
  const newestAtStart = served.highest();
  const reserves = new Map<string, string>();
  let isFirst = true;

  function isSelected(id: string): boolean {
    if (pools === undefined && tokens === undefined) return true;
    const named = id.replace('PoolPair:', '');
    return (pools?.includes(named) ?? false) || named.split('-').some((token) => tokens?.includes(token));
  }
  const reservesOf = (pool: PoolResult) => `${pool.token1PoolValue}/${pool.token2PoolValue}`;

  /** Compares the height of an update with the previous update. */
  function stepMismatch({ beaconHeight, previousHeight, missedHeights }: Update): string | undefined {
    const before = heights.last();
    const missed = before === undefined ? 0 : Math.max(0, beaconHeight - before - 1);
    const times = (timesReceived.get(beaconHeight) ?? 0) + 1;
    timesReceived.set(beaconHeight, times);
    return (
      heights.step(beaconHeight) ??
      (previousHeight === (before ?? null) ? undefined : `previousHeight ${previousHeight} after ${before}`) ??
      (missedHeights === missed ? undefined : `missedHeights ${missedHeights} between ${before} and ${beaconHeight}`) ??
      (times <= shown.at(beaconHeight).length ? undefined : `height ${beaconHeight} received ${times} times`) ??
      (before === undefined || after === undefined ? undefined : resumeMismatch(before, beaconHeight))
    );
  }

  /** A height that was served before the subscriber resumed, and that can still be resumed, must not be skipped. */
  function resumeMismatch(before: number, height: number): string | undefined {
    const oldest = shown.chain.tip.height - DEFAULT_LIMITS.maxResumedHeights + 1;
    for (let expected = Math.max(before + 1, oldest); expected < Math.min(height, newestAtStart + 1); expected++)
      if (served.wasServed(expected))
        return `${expected} is skipped between ${before} and ${height}, after a resume from ${after}`;
    return undefined;
  }

  function mismatch(update: Update): string | undefined {
    const isOfTime = (block: Block) => new Date(block.time * 1_000).toISOString() === update.blockTime;
    const ofChain = (block: Block) => (isOfTime(block) ? undefined : `blockTime ${update.blockTime}`);
    return served.mismatchAt(update.beaconHeight, (block) => {
      const expected = [...expectedPools(shown.chain, block).values()].filter(
        (pool) => isSelected(pool.id) && (isFirst || !onlyChanged || reserves.get(pool.id) !== reservesOf(pool)),
      );
      return ofChain(block) ?? listMismatch(update.poolPairs, expected, 'poolPairs');
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
    check(data) {
      const update = data['prices'] as Update;
      const wrong = stepMismatch(update) ?? mismatch(update);
      isFirst = false;
      for (const pool of update.poolPairs) reserves.set(pool.id, reservesOf(pool));
      return wrong;
    },
    height: heights.last,
    skipped: heights.skipped,
    resumed() {
      const last = heights.last();
      return last === undefined ? undefined : subscribe(context, selection, last);
    },
  };
}
