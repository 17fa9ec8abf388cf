import { isDeepStrictEqual } from 'node:util';
import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { isV3, tradingPools } from '../expected/exchange.ts';
import { listMismatch } from '../expected/market.ts';
import { expectedPools, POOL_FIELDS, type PoolResult } from '../expected/pools.ts';
import { DEFAULT_LIMITS } from '../queries/service.ts';
import { createOrderChanges } from './order-changes.ts';
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
  const { chain } = context.shown;
  const pools = tradingPools(chain);
  const tokens = pools.flatMap(({ token1, token2 }) => [token1, token2]);
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
  const { shown, served, outages, replicas } = context;
  const { onlyChanged, pools, tokens } = selection;
  const heights = createHeights(after);
  const newestAtStart = served.highest();
  /** What was sent last of each pool, apart from its orders. */
  const sentBefore = new Map<string, string>();
  let isFirst = true;
  let last: Update | undefined;

  function isSelected(id: string): boolean {
    if (pools === undefined && tokens === undefined) return true;
    const named = id.replace('PoolPair:', '');
    const [token1 = '', token2 = ''] = named.split('-');
    return (pools?.includes(named) ?? false) || [token1, token2].some((token) => tokens?.includes(token));
  }
  function changingOf(pool: PoolResult): string {
    const { token1PoolValue, token2PoolValue, token1VirtualValue, token2VirtualValue, feeRateBps } = pool;
    return [token1PoolValue, token2PoolValue, token1VirtualValue, token2VirtualValue, feeRateBps].join('/');
  }

  /** Compares the height of an update with the previous update. */
  function stepMismatch(update: Update): string | undefined {
    const { beaconHeight, previousHeight, missedHeights } = update;
    const before = heights.last();
    const missed = before === undefined ? 0 : Math.max(0, beaconHeight - before - 1);
    return (
      heights.step(beaconHeight) ??
      (previousHeight === (before ?? null) ? undefined : `previousHeight ${previousHeight} after ${before}`) ??
      (missedHeights === missed ? undefined : `missedHeights ${missedHeights} between ${before} and ${beaconHeight}`) ??
      (isRepeated(update) ? `the same block of height ${beaconHeight} received twice in a row` : undefined) ??
      (before === undefined || after === undefined ? undefined : resumeMismatch(before, beaconHeight))
    );
  }

  /**
   * Whether an update is of the same block as the one before it. A replaced block may be shown again: while nodes have
   * different tips, the node that the gateway reads can change with each outage. Some pools can be the same in both blocks.
   */
  function isRepeated({ beaconHeight, blockTime, poolPairs }: Update): boolean {
    const isOnlyBlock = shown.at(beaconHeight).length === 1;
    if (after === beaconHeight && last === undefined) return isOnlyBlock;
    if (!isOnlyBlock && (pools !== undefined || tokens !== undefined)) return false;
    if (last?.beaconHeight !== beaconHeight || last.blockTime !== blockTime) return false;
    return onlyChanged ? poolPairs.length === 0 : isDeepStrictEqual(poolPairs, last.poolPairs);
  }

  /**
   * A height that was served before the subscriber resumed, and that can still be resumed, must not be skipped, unless its block may have
   * been replaced together with a later one.
   */
  function resumeMismatch(before: number, height: number): string | undefined {
    const oldest = shown.chain.tip.height - DEFAULT_LIMITS.maxResumedHeights + 1;
    for (let expected = Math.max(before + 1, oldest); expected < Math.min(height, newestAtStart + 1); expected++) {
      const wasReplaced = shown.at(expected).length > 1;
      if (!wasReplaced && served.wasServed(expected) && !outages.wereAlone(shown.shownAt(expected), performance.now()))
        return `${expected} is skipped between ${before} and ${height}, after a resume from ${after}`;
    }
    return undefined;
  }

  function mismatch(update: Update): string | undefined {
    const orders = createOrderChanges(shown, last?.beaconHeight, update.beaconHeight);
    const isOfTime = (block: Block) => new Date(block.time * 1_000).toISOString() === update.blockTime;
    const ofChain = (block: Block) => (isOfTime(block) ? undefined : `blockTime ${update.blockTime}`);
    return served.mismatchAt(update.beaconHeight, (block) => {
      const selected = [...expectedPools(shown.chain, block).values()].filter(({ id }) => isSelected(id));
      // A gateway that has just started has read the tokens after the heads that it got from the fleet: all pools are sent then.
      const isWhole = isFirst || !onlyChanged || (replicas > 1 && update.poolPairs.length === selected.length);
      const sent = new Set(update.poolPairs.map(({ id }) => id));
      const expected = selected.filter(
        (pool) =>
          isWhole ||
          sentBefore.get(pool.id) !== changingOf(pool) ||
          orders.changed(pool.id, block) === 'certainly' ||
          (sent.has(pool.id) && orders.changed(pool.id, block) === 'maybe'),
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
      poolPairs: pools?.map((id) => {
        const [token1Id, token2Id] = id.split('-');
        return { token1Id: token2Id, token2Id: token1Id, ...(isV3(shown.chain) && { poolId: id }) };
      }),
      tokenIds: tokens,
    },
    check(data) {
      const update = data['prices'] as Update;
      const wrong = stepMismatch(update) ?? mismatch(update);
      isFirst = false;
      last = update;
      for (const pool of update.poolPairs) sentBefore.set(pool.id, changingOf(pool));
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
