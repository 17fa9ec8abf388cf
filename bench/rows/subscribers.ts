import type { Goal } from '../goal.ts';
import { POOLS_PER_SUBSCRIBER } from '../operations.ts';
import { createResult, type Result } from '../result.ts';
import type { Row, RowContext } from '../row.ts';
import { benchmarkSubscribers, updatesOf } from '../subscriber-benchmark.ts';
import { BARE_WS, GATEWAY, YOGA } from '../targets.ts';

const COMPARED_WITH_BARE = {
  target: GATEWAY,
  baseline: { target: BARE_WS, by: 'ratio' },
  bound: 'at most',
} as const;

/** All subscribers follow the same pools, as the visitors of one page do. */
export const subscribers: Row = {
  name: 'subscribers',
  comparesCheckouts: true,
  run: (context) =>
    run(context, {
      title: 'One update to subscribers of one operation',
      about: `All follow the prices of the same ${POOLS_PER_SUBSCRIBER} pools.`,
      sizes: context.quick ? [200] : context.isComparison ? [5_000] : [10_000],
      starts: 3,
      operations: () => 1,
      pools: 200,
      references: [BARE_WS],
      goals: {
        time: [{ ...COMPARED_WITH_BARE, value: 1.3 }],
        memory: [{ ...COMPARED_WITH_BARE, value: 1.5 }],
      },
    }),
};

/** Every fifth subscriber has an operation of its own. */
export const distinctOperations: Row = {
  name: 'distinct-operations',
  comparesCheckouts: true,
  run: (context) => {
    return run(context, {
      title: 'One update to subscribers of 1,000 operations',
      about: `One in five subscribers follows other ${POOLS_PER_SUBSCRIBER} pools: 5,000 have 1,000 operations in all.`,
      sizes: context.quick ? [200] : [5_000],
      starts: 2,
      operations: (size) => size / 5,
      pools: context.quick ? 100 : 1_000,
      references: [YOGA],
      goals: {
        // Four times as fast, with a thousand operations.
        time: [{ target: GATEWAY, baseline: { target: YOGA, by: 'ratio' }, bound: 'at most', value: 0.25 }],
        memory: [],
      },
    });
  },
};

type Options = {
  readonly title: string;
  readonly about: string;
  readonly sizes: readonly number[];
  readonly starts: number;
  operations(subscribers: number): number;
  readonly pools: number;
  readonly references: readonly string[];
  readonly goals: { readonly time: readonly Goal[]; readonly memory: readonly Goal[] };
};

async function run(context: RowContext, options: Options): Promise<readonly Result[]> {
  const { isComparison } = context;
  const samplesPerStart = updatesOf(context).measured;
  const { title, about, sizes, goals } = options;
  // It takes twenty seconds for each server.
  const measuresMemory = isComparison || goals.memory.length > 0;
  const head = { sizes, sizeUnit: 'subscribers', better: 'less' } as const;
  const time = createResult({
    ...head,
    title,
    about: `${about} From the publication, whose time is \`observedAt\` in every update, to the last receipt.`,
    unit: 'ms',
    samplesPerStart,
    goals: goals.time,
  });
  const cpuTime = createResult({
    ...head,
    title: `${title}: CPU time`,
    about: `${about} The CPU time of the server for one update.`,
    unit: 'ms',
    samplesPerStart,
    goals: [],
  });
  const memory = createResult({
    ...head,
    title: `${title}: memory`,
    about: `${about} The resident memory of the server after an update, a garbage collection and ten seconds, minus that before the subscribers came.`,
    unit: 'KiB',
    goals: goals.memory,
  });
  await benchmarkSubscribers(context, { ...options, time, cpuTime, memory: measuresMemory ? memory : undefined });
  return [time, ...(isComparison ? [cpuTime] : []), ...(measuresMemory ? [memory] : [])];
}
