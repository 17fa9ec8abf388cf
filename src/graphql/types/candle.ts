import { andThen } from '../../domain/maybe-promise.ts';
import { placeOfKey } from '../../domain/pool-selection.ts';
import {
  type CandleVolumes,
  DEFAULT_CANDLES,
  type PricedCandle,
  requireCandleArguments,
} from '../../loaders/candles.ts';
import { createCandleStream } from '../../loaders/price-streams.ts';
import { builder, PoolPairRef } from '../builder.ts';
import { recordedObjects, sizeOf } from '../complexity.ts';
import { decimalsArgs } from './pool-pair.ts';
import { poolKeyArgs } from './prices.ts';

const CandleIntervalEnum = builder.enumType('CandleInterval', {
  description: 'Length of the time that a candle covers. Intervals are aligned to UTC.',
  values: {
    ONE_MINUTE: { description: 'One minute.' },
    FIVE_MINUTES: { description: 'Five minutes.' },
    FIFTEEN_MINUTES: { description: 'A quarter of an hour.' },
    ONE_HOUR: { description: 'One hour.' },
    FOUR_HOURS: { description: 'Four hours, beginning at 0, 4, 8, 12, 16 and 20 h UTC.' },
    ONE_DAY: { description: 'One day, from 0 h UTC.' },
  } as const,
});

const price = (text: string) =>
  `${text} Null if the pool had an empty side then, or if the decimals of a token are unknown and not set by an argument.`;

const CandleRef = builder.objectRef<PricedCandle>('Candle').implement({
  description:
    'The price of a pool in one interval. A change of the reserves counts at the height whose block contains it, and belongs to the interval in which that block was made.',
  fieldDescriptions: {
    poolId: '`PoolPair.poolId` of the pool. Null in V1.',
    openTime: 'When the interval begins. A block made at this time belongs to it.',
    closeTime: 'When the interval ends. A block made at this time belongs to the next interval.',
    open: price('`PoolPair.price` after the first height of the interval at which the pool exists.'),
    high: price(
      '`PoolPair.price` after the height with the highest ratio of the reserves, token 1 to token 2. Heights with an empty side are left out unless there are no others.',
    ),
    low: price(
      '`PoolPair.price` after the height with the lowest ratio of the reserves, token 1 to token 2. Heights with an empty side are left out unless there are no others.',
    ),
    close: price('`PoolPair.price` after the last height of the interval.'),
    inverseOpen: price('`PoolPair.inversePrice` at the height of `open`.'),
    inverseHigh: price('`PoolPair.inversePrice` at the height of `low`: the highest one by the ratio.'),
    inverseLow: price('`PoolPair.inversePrice` at the height of `high`: the lowest one by the ratio.'),
    inverseClose: price('`PoolPair.inversePrice` at the height of `close`.'),
    volume:
      '`tradedToken2` in whole tokens: the volume of the token whose price is `open` to `close`. Null if the decimals of token 2 are unknown and not set by an argument.',
    inverseVolume:
      '`tradedToken1` in whole tokens: the volume of the token whose price is `inverseOpen` to `inverseClose`. Null if the decimals of token 1 are unknown and not set by an argument.',
    tradedToken1:
      'Traded amount of token 1 in its smallest unit. If `isVolumeExact` is true, it is the sum of the trades of the interval, through the pool and its orders. If not, it is at least that amount: the sum of the net changes of its reserve, over the heights at which one reserve rose and the other fell. Then several trades in one block count as their net change, and a change across heights that are not recorded counts at the first height after them. The sum can exceed 2^64 - 1.',
    tradedToken2: 'Traded amount of token 2 in its smallest unit. It is computed as `tradedToken1`.',
    isVolumeExact:
      'True if `tradedToken1`, `tradedToken2`, `volume` and `inverseVolume` are exact, because the trades of every height of the interval are known. While the interval is open, this means every height so far. False in V1.',
    firstHeight: 'The first known height of the interval: one that is recorded, or in memory until it is.',
    lastHeight: 'The last known height of the interval.',
    heights: 'Number of known heights of the interval.',
    isComplete:
      'True if every height of the interval is known. While the interval is open, this means every height so far. False next to a gap, because the times of missing heights are not known.',
    isClosed:
      'True if the interval is over and its last height is final. It is over when a block made at or after `closeTime` is known: the clock does not count. A closed candle changes only if missing heights are read later.',
  },
  fields: (t) => ({
    poolId: t.exposeString('poolId', { nullable: true }),
    ...t.exposeAll('DateTime', 'openTime', 'closeTime'),
    open: t.float({ nullable: true, resolve: ({ open, priceOf }) => priceOf(open) }),
    high: t.float({ nullable: true, resolve: ({ high, priceOf }) => priceOf(high) }),
    low: t.float({ nullable: true, resolve: ({ low, priceOf }) => priceOf(low) }),
    close: t.float({ nullable: true, resolve: ({ close, priceOf }) => priceOf(close) }),
    inverseOpen: t.float({ nullable: true, resolve: ({ open, inversePriceOf }) => inversePriceOf(open) }),
    inverseHigh: t.float({ nullable: true, resolve: ({ low, inversePriceOf }) => inversePriceOf(low) }),
    inverseLow: t.float({ nullable: true, resolve: ({ high, inversePriceOf }) => inversePriceOf(high) }),
    inverseClose: t.float({ nullable: true, resolve: ({ close, inversePriceOf }) => inversePriceOf(close) }),
    volume: t.float({ nullable: true, resolve: ofVolumes('volume') }),
    inverseVolume: t.float({ nullable: true, resolve: ofVolumes('inverseVolume') }),
    tradedToken1: t.field({ type: 'BigInt', resolve: ofVolumes('traded1') }),
    tradedToken2: t.field({ type: 'BigInt', resolve: ofVolumes('traded2') }),
    isVolumeExact: t.boolean({ resolve: ofVolumes('isExact') }),
    ...t.exposeAll('BeaconHeight', 'firstHeight', 'lastHeight'),
    heights: t.exposeInt('heights'),
    ...t.exposeAll('Boolean', 'isComplete', 'isClosed'),
  }),
});

/** The resolver of a volume of a candle. */
function ofVolumes<Name extends keyof CandleVolumes>(name: Name) {
  return (candle: PricedCandle) => andThen(candle.volumes(), (volumes) => volumes[name]);
}

const intervalArg = builder.args((t) => ({
  interval: t.field({ type: CandleIntervalEnum, required: true, description: 'Length of each candle.' }),
}));

builder.objectField(PoolPairRef, 'candles', (t) =>
  t.field({
    type: [CandleRef],
    nullable: true,
    complexity: ({ last }, { service }) => recordedObjects(sizeOf(last, DEFAULT_CANDLES, service.limits.maxCandles)),
    extensions: { refuse: requireCandleArguments, isAwaited: true },
    description:
      'Candles of `price` up to the height of this pool, oldest first: the last `last` of those whose `openTime` is at or after `from` and before `to`. Intervals without a known height are left out. Heights that are not final yet are included from memory. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read.',
    args: {
      ...intervalArg,
      from: t.arg({ type: 'DateTime', description: 'The earliest `openTime`. By default, there is none.' }),
      to: t.arg({
        type: 'DateTime',
        description:
          'Only candles whose `openTime` is before it. It must be after `from`. By default, up to this pool.',
      }),
      last: t.arg.int({
        defaultValue: DEFAULT_CANDLES,
        description: 'Maximum number of candles, at least 1. More than `service.limits.maxCandles` is BAD_USER_INPUT.',
      }),
      ...decimalsArgs,
    },
    resolve: (pool, args, { loaders }) => loaders.history.candles(pool, args),
  }),
);

builder.subscriptionField('candles', (t) =>
  t.field({
    type: CandleRef,
    complexity: recordedObjects(1),
    extensions: { refuse: requireCandleArguments },
    description:
      'Sends the current candle of a pool first, then again at each new beacon height. When an interval has ended and its last height becomes final, its candle is sent once more with `isClosed: true`, before the current candle. A slow subscriber skips heights, but no closed candle of the last 64 intervals. If the gateway could read no height of an interval, it does not send the candle of this interval. All candles of an update are of one pool, which `poolId` names. A pool that does not exist is BAD_USER_INPUT. While the recorded history cannot be read, each update is HISTORY_UNAVAILABLE with null data, and the subscription stays open.',
    args: { ...poolKeyArgs, ...intervalArg, ...decimalsArgs },
    subscribe: (_root, args, { loaders }) => createCandleStream(args, loaders),
    resolve: (moment, args, { loaders }) =>
      andThen(
        loaders.exchange.find((exchange) => placeOfKey(exchange, args)),
        (pool) => loaders.history.candleAt(pool, moment, args),
      ),
  }),
);
