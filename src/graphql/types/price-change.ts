import { absoluteChange, percentChange } from '../../domain/price.ts';
import type { PoolWindow } from '../../domain/reserves.ts';
import { withPoolOf } from '../../loaders/pool-price.ts';
import {
  DEFAULT_HOURS,
  DEFAULT_POINTS,
  type PriceChange,
  requireChangeArguments,
  requireSparklineArguments,
} from '../../loaders/price-changes.ts';
import { builder, PairRef, PoolPairRef } from '../builder.ts';
import { recordedObjects, recordedValues } from '../complexity.ts';
import type { Context } from '../context.ts';
import { decimalsArgs } from './pool-pair.ts';

const UNKNOWN_DECIMALS = 'or if the decimals of a token are unknown and not set by an argument';

const PriceChangeRef = builder.objectRef<PriceChange>('PriceChange').implement({
  description:
    'How the price of a pool changed in the hours up to its height. The price is `price` in `PoolPair.change`, and `poolPrice` in `Pair.change`.',
  fieldDescriptions: {
    fromHeight:
      'The newest recorded height at or before the start of the window. If there is none, the first recorded height.',
    fromTime: 'Time at which the block at `fromHeight` was produced.',
    from: `The price at \`fromHeight\`. Null if the pool did not exist or had an empty side then, ${UNKNOWN_DECIMALS}.`,
    to: `The price of this pool. Null if it has an empty side, ${UNKNOWN_DECIMALS}.`,
    high: `The highest price from \`fromHeight\` on, judged by the ratio of the reserves. Null if the pool had an empty side at all these heights, ${UNKNOWN_DECIMALS}.`,
    low: `The lowest price from \`fromHeight\` on, judged by the ratio of the reserves. Null if the pool had an empty side at all these heights, ${UNKNOWN_DECIMALS}.`,
    absolute: '`to` minus `from`. Null if one of them is null.',
    percent: '`100 * (to / from - 1)`. Null if one of them is null, or if `from` is not above 0.',
    tradedToken1:
      'Traded amount of token 1 after `fromHeight` in its smallest unit, at least. It is the sum of the net changes, as `Candle.tradedToken1` if that is not exact. The exact sum of the trades is `PoolPair.volume`.',
    tradedToken2: 'Traded amount of token 2 after `fromHeight` in its smallest unit, at least.',
    isComplete:
      'True if every height of the window is known. False if the recorded history begins in the window, or has a gap in it.',
  },
  fields: (t) => ({
    fromHeight: t.field({ type: 'BeaconHeight', resolve: ({ start }) => start.beaconHeight }),
    fromTime: t.field({ type: 'DateTime', resolve: ({ start }) => start.time }),
    from: t.float({ nullable: true, resolve: ({ from, priceOf }) => priceOf(from) }),
    to: t.float({ nullable: true, resolve: ({ pool, priceOf }) => priceOf(pool) }),
    high: t.float({ nullable: true, resolve: ofWindow(({ high }, { priceOf }) => priceOf(high)) }),
    low: t.float({ nullable: true, resolve: ofWindow(({ low }, { priceOf }) => priceOf(low)) }),
    absolute: t.float({
      nullable: true,
      resolve: ({ from, pool, priceOf }) => absoluteChange(priceOf(from), priceOf(pool)),
    }),
    percent: t.float({
      nullable: true,
      resolve: ({ from, pool, priceOf }) => percentChange(priceOf(from), priceOf(pool)),
    }),
    tradedToken1: t.field({ type: 'BigInt', resolve: ofWindow(({ traded1 }) => traded1) }),
    tradedToken2: t.field({ type: 'BigInt', resolve: ofWindow(({ traded2 }) => traded2) }),
    isComplete: t.boolean({ resolve: ofWindow(({ isComplete }) => isComplete) }),
  }),
});

/** The resolver of something that follows from the recorded heights of the window of a change. */
function ofWindow<Value>(read: (window: PoolWindow, change: PriceChange) => Value) {
  return async (change: PriceChange, _args: object, { loaders }: Context) =>
    read(await loaders.history.window(change), change);
}

/** The window of a field that looks back from the height of a pool. */
export const windowArgs = builder.args((t) => ({
  hours: t.int({
    defaultValue: DEFAULT_HOURS,
    description: 'Length of the window, at least 1. More than `service.limits.maxHistoryHours` is BAD_USER_INPUT.',
  }),
}));

const sparklineArgs = builder.args((t) => ({
  points: t.int({ defaultValue: DEFAULT_POINTS, description: 'Number of values, from 2 to 500.' }),
  hours: t.int({
    defaultValue: DEFAULT_HOURS,
    description:
      'Hours from the first value to the last, at least 1. More than `service.limits.maxHistoryHours` is BAD_USER_INPUT.',
  }),
}));

const CHANGE = {
  type: PriceChangeRef,
  nullable: true,
  complexity: recordedObjects(1),
  extensions: { refuse: requireChangeArguments },
} as const;

const SPARKLINE = {
  nullable: { list: true, items: true },
  complexity: ({ points }: Parameters<typeof requireSparklineArguments>[0]) => recordedValues(points ?? DEFAULT_POINTS),
  extensions: { refuse: requireSparklineArguments, isAwaited: true },
} as const;

builder.objectFields(PoolPairRef, (t) => ({
  change: t.field({
    ...CHANGE,
    description:
      'How `price` changed in the hours up to the height of this pool. The change counts from `fromHeight`. Null while nothing is recorded up to this height. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read.',
    args: { ...windowArgs, ...decimalsArgs },
    resolve: (pool, args, { loaders }) => loaders.history.change(pool, args),
  }),
  sparkline: t.floatList({
    ...SPARKLINE,
    description:
      '`price` at evenly spaced moments, oldest first, for small charts. Each value is from the newest recorded height at or before its moment, the last one from this pool itself. The moments are `T - hours * (n - 1 - i) / (n - 1)` for i from 0 to n - 1, where T is the time of the block of this pool and n is `points`. A value is null if nothing is recorded at its moment, and in the cases in which `price` is null. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read.',
    args: { ...sparklineArgs, ...decimalsArgs },
    resolve: (pool, args, { loaders }) => loaders.history.sparkline(pool, args),
  }),
}));

builder.objectFields(PairRef, (t) => ({
  change: t.field({
    ...CHANGE,
    description:
      'How `poolPrice` changed in the last hours: `PoolPair.change` of `poolPair`, in target tokens per base token. Null if `poolPair` is null or of other tokens than the pair, or while nothing is recorded. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read, and with an error if the exchange state cannot be read.',
    args: windowArgs,
    resolve: (pair, args, { loaders }) =>
      withPoolOf(pair, loaders.exchange, (pool) => loaders.history.change(pool, args, pair.baseId)),
  }),
  sparkline: t.floatList({
    ...SPARKLINE,
    description:
      '`poolPrice` at evenly spaced moments, oldest first: `PoolPair.sparkline` of `poolPair`, in target tokens per base token. Null if `poolPair` is null or of other tokens than the pair. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read, and with an error if the exchange state cannot be read.',
    args: sparklineArgs,
    resolve: (pair, args, { loaders }) =>
      withPoolOf(pair, loaders.exchange, (pool) => loaders.history.sparkline(pool, args, pair.baseId)),
  }),
}));
