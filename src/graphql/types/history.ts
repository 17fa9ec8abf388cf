import type { HeightRange } from '../../domain/beacon-height.ts';
import { type BeaconBlock, DEFAULT_BLOCKS, DEFAULT_GAPS, type HistoryCoverage } from '../../loaders/history.ts';
import { builder } from '../builder.ts';
import { objects, recordedObjects, sizeOf } from '../complexity.ts';

const HeightRangeRef = builder.objectRef<HeightRange>('HeightRange').implement({
  description: 'A range of beacon heights.',
  fieldDescriptions: {
    from: 'The lowest height of the range.',
    to: 'The highest height of the range.',
  },
  fields: (t) => t.exposeAll('BeaconHeight', 'from', 'to'),
});

const BeaconBlockRef = builder.objectRef<BeaconBlock>('BeaconBlock').implement({
  description: 'A block of the beacon chain.',
  fieldDescriptions: {
    beaconHeight: 'Height of the block.',
    hash: 'Hash of the block: 64 hexadecimal characters. Null if the gateway read the height only after it was final.',
    time: 'Time at which the block was produced.',
  },
  fields: (t) => ({
    beaconHeight: t.expose('beaconHeight', { type: 'BeaconHeight' }),
    hash: t.exposeString('hash', { nullable: true }),
    time: t.expose('time', { type: 'DateTime' }),
  }),
});

const HistoryRef = builder.objectRef<HistoryCoverage>('History').implement({
  description: 'The range of the recorded history. The gateway records only final heights.',
  fieldDescriptions: {
    firstHeight: 'The lowest recorded height.',
    firstTime: 'Time at which the block at `firstHeight` was produced.',
    lastHeight:
      'The highest recorded height. It is a few blocks below the newest one, because only final heights are recorded.',
    lastTime: 'Time at which the block at `lastHeight` was produced.',
    heights: 'Number of recorded heights.',
    gaps: 'Ranges of heights between `firstHeight` and `lastHeight` that are not recorded, newest first.',
    blocks:
      'The newest blocks of the beacon chain up to the height of the response, oldest first: the recorded ones, and the newest ones, which are not final yet. Heights in a gap are missing. Null with an error if `last` is not valid, if the height of the response cannot be read, or if the recorded history cannot be read.',
    isBackfilling: 'True if the gateway is reading older heights from the node now.',
  },
  fields: (t) => ({
    firstHeight: t.field({ type: 'BeaconHeight', resolve: ({ first }) => first.beaconHeight }),
    firstTime: t.field({ type: 'DateTime', resolve: ({ first }) => first.time }),
    lastHeight: t.field({ type: 'BeaconHeight', resolve: ({ last }) => last.beaconHeight }),
    lastTime: t.field({ type: 'DateTime', resolve: ({ last }) => last.time }),
    heights: t.exposeInt('heights'),
    gaps: t.field({
      type: [HeightRangeRef],
      complexity: ({ first }, { service }) => objects(sizeOf(first, DEFAULT_GAPS, service.limits.maxPageSize)),
      args: {
        first: t.arg.int({
          defaultValue: DEFAULT_GAPS,
          description:
            'Maximum number of ranges, from 0 to `service.limits.maxPageSize`. With another number, the whole `history` is null.',
        }),
      },
      resolve: (coverage, { first }, { loaders }) => loaders.history.gaps(coverage, first),
    }),
    blocks: t.field({
      type: [BeaconBlockRef],
      nullable: true,
      complexity: ({ last }, { service }) => recordedObjects(sizeOf(last, DEFAULT_BLOCKS, service.limits.maxPageSize)),
      args: {
        last: t.arg.int({
          defaultValue: DEFAULT_BLOCKS,
          description: 'Maximum number of blocks, from 0 to `service.limits.maxPageSize`.',
        }),
      },
      resolve: (_coverage, { last }, { loaders }) => loaders.history.blocks(last),
    }),
    isBackfilling: t.boolean({ resolve: (_coverage, _args, { loaders }) => loaders.history.isBackfilling() }),
  }),
});

builder.queryField('history', (t) =>
  t.field({
    type: HistoryRef,
    nullable: true,
    complexity: recordedObjects(1),
    description:
      'The range of the recorded history. It contains each final height that the gateway has read, with the reserves that changed. Null while nothing is recorded. Null with HISTORY_UNAVAILABLE if the recorded history cannot be read.',
    resolve: (_root, _args, { loaders }) => loaders.history.coverage(),
  }),
);
