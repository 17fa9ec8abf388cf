import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Random } from '../../src/sandbox/chain/random.ts';
import { pick, type SoakContext } from '../context.ts';
import { isV3, tradingPools } from '../expected/exchange.ts';
import { listMismatch } from '../expected/market.ts';
import { expectedPools, POOL_FIELDS } from '../expected/pools.ts';
import { TRADE_FIELDS, type TradeResult, tradesMismatch, tradesOfBlock } from '../expected/trades.ts';
import { DEFAULT_LIMITS } from '../queries/service.ts';
import { type CheckedSubscription, createHeights } from './subscription.ts';

type Update = {
  readonly beaconHeight: number;
  readonly previousHeight: number | null;
  readonly time: string;
  readonly trades: readonly (TradeResult & { readonly poolPair: unknown })[];
};

const QUERY = `subscription ($poolIds: [String!], $afterHeight: BeaconHeight) {
  trades(poolIds: $poolIds, afterHeight: $afterHeight) {
    beaconHeight previousHeight time trades { ${TRADE_FIELDS} poolPair { ${POOL_FIELDS} } }
  }
}`;

/** A subscription to the trades of all or some pools: one update for each height, in order, with exactly the trades of its block. */
export function createTradesSubscription(context: SoakContext, random: Random): CheckedSubscription {
  const pools = tradingPools(context.shown.chain);
  const some = Array.from({ length: 1 + random.below(4) }, () => pick(random, pools).id);
  return subscribe(context, isV3(context.shown.chain) && random.chance(0.5) ? some : undefined);
}

function subscribe(
  context: SoakContext,
  poolIds: readonly string[] | undefined,
  after?: number | undefined,
): CheckedSubscription {
  const { shown, served, outages, replicas } = context;
  const { chain } = shown;
  const pools = new Map(tradingPools(chain).map((pool) => [pool.id, pool]));
  const heights = createHeights(after);
  const newestAtStart = served.highest();
  let last: Update | undefined;
  /** Updates since the last one that were errors: each was of a height, which is not known. */
  let failed = 0;

  function stepMismatch({ beaconHeight, previousHeight, time }: Update): string | undefined {
    const before = heights.last();
    const wrong = heights.step(beaconHeight);
    if (wrong !== undefined) return wrong;
    const isRight =
      failed === 0
        ? previousHeight === (before ?? null)
        : previousHeight !== null && previousHeight >= (before ?? 0) && previousHeight <= beaconHeight;
    if (!isRight) return `previousHeight ${previousHeight} after ${before} and ${failed} errors`;
    const isOnlyBlock = shown.at(beaconHeight).length === 1;
    const isRepeated =
      last === undefined
        ? before === beaconHeight && isOnlyBlock
        : last.beaconHeight === beaconHeight && (isOnlyBlock || (failed === 0 && last.time === time));
    if (isRepeated) return `the same block of height ${beaconHeight} received twice`;
    return before === undefined ? undefined : skipMismatch(before, beaconHeight);
  }

  /**
   * Every height that was served as the newest must be sent while it is remembered; in a fleet, each that was served before a resume. One
   * whose block may have been replaced together with a later one is not remembered.
   */
  function skipMismatch(before: number, height: number): string | undefined {
    const oldest = chain.tip.height - DEFAULT_LIMITS.maxResumedHeights + 1;
    const newest = replicas === 1 ? height - 1 : Math.min(height - 1, after === undefined ? 0 : newestAtStart);
    const skipped = Array.from({ length: Math.max(0, newest - before) }, (_, n) => before + 1 + n).filter(
      (each) =>
        each >= oldest &&
        served.wasServed(each) &&
        shown.at(each).length === 1 &&
        !outages.wereAlone(shown.shownAt(each), performance.now()),
    );
    return skipped.length > failed ? `${skipped} skipped between ${before} and ${height}, ${failed} errors` : undefined;
  }

  function mismatch({ beaconHeight, time, trades }: Update): string | undefined {
    return served.mismatchAt(beaconHeight, (block: Block) => {
      if (new Date(block.time * 1_000).toISOString() !== time) return `time ${time}`;
      const all = tradesOfBlock(chain, block);
      const selected = poolIds === undefined ? all : all.filter(({ poolId }) => poolIds.includes(poolId));
      const after = expectedPools(chain, block);
      return (
        tradesMismatch(trades.map(({ poolPair: _, ...trade }) => trade) as TradeResult[], selected, pools) ??
        listMismatch(
          trades.map(({ poolPair }) => poolPair),
          selected.map(({ poolId }) => after.get(`PoolPair:${poolId}`)),
          'poolPair of trades',
        )
      );
    });
  }

  return {
    kind: 'trades',
    source: 'head',
    query: QUERY,
    after,
    variables: { poolIds },
    check(data) {
      const update = data['trades'] as Update;
      const wrong = stepMismatch(update) ?? mismatch(update);
      last = update;
      failed = 0;
      return wrong;
    },
    failed: () => {
      failed += 1;
    },
    hasFailed: () => failed > 0,
    height: heights.last,
    skipped: heights.skipped,
    resumed() {
      const newest = heights.last();
      return newest === undefined ? undefined : subscribe(context, poolIds, newest);
    },
  };
}
