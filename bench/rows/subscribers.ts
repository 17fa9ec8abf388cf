import { compareSubscribers } from '../compare-subscribers.ts';
import { beginFinding, type Finding } from '../finding.ts';
import { POOLS_FOLLOWED } from '../operations.ts';
import type { Reach } from '../reach.ts';
import type { Row, Stage } from '../row.ts';
import { BARE_WS, GATEWAY, YOGA } from '../servers.ts';

const AGAINST_BARE = { subject: GATEWAY, against: { subject: BARE_WS, by: 'times' }, bound: 'at most' } as const;

/** All follow the same pools, as the visitors of one page do. */
export const subscribers: Row = {
  name: 'subscribers',
  run: (stage) =>
    follow(stage, {
      title: `One update to many subscribers of one operation`,
      about: `All follow the prices of the same ${POOLS_FOLLOWED} pools.`,
      sizes: stage.quick ? [50, 100, 200] : [1_000, 5_000, 10_000],
      operations: () => 1,
      pools: 200,
      reference: BARE_WS,
      subjects: [BARE_WS, GATEWAY, YOGA],
      reaches: {
        time: [{ ...AGAINST_BARE, value: 1.3 }],
        memory: [{ ...AGAINST_BARE, value: 1.5 }],
      },
    }),
};

/** Every fifth follows other pools. */
export const distinctOperations: Row = {
  name: 'distinct-operations',
  run: (stage) => {
    const sizes = stage.quick ? [50, 100, 200] : [1_250, 2_500, 5_000];
    return follow(stage, {
      title: 'One update to many subscribers of many operations',
      about: `Of each five subscribers one follows other ${POOLS_FOLLOWED} pools: 5,000 have 1,000 operations between them.`,
      sizes,
      operations: (size) => size / 5,
      pools: stage.quick ? 100 : 1_000,
      reference: YOGA,
      subjects: [YOGA, GATEWAY],
      reaches: {
        // Four times faster, with a thousand operations.
        time: [
          {
            subject: GATEWAY,
            against: { subject: YOGA, by: 'times' },
            bound: 'at most',
            value: 0.25,
            at: sizes.slice(-1),
          },
        ],
        memory: [],
      },
    });
  },
};

type Following = {
  readonly title: string;
  readonly about: string;
  readonly sizes: readonly number[];
  operations(subscribers: number): number;
  readonly pools: number;
  readonly reference: string;
  readonly subjects: readonly string[];
  readonly reaches: { readonly time: readonly Reach[]; readonly memory: readonly Reach[] };
};

async function follow(
  stage: Stage,
  { title, about, reference, reaches, ...rest }: Following,
): Promise<readonly Finding[]> {
  const head = { sizes: rest.sizes, sizeUnit: 'subscribers', better: 'less', reference } as const;
  const time = beginFinding({
    ...head,
    title,
    about: `${about} From \`observedAt\`, the moment of publication that every update tells, to the last receipt.`,
    unit: 'milliseconds',
    reaches: reaches.time,
  });
  const memory = beginFinding({
    ...head,
    title: `${title}: memory`,
    about: `${about} Resident memory of the server after an update, a collection of garbage and ten seconds, less what there was before anyone had come.`,
    unit: 'KiB per subscriber',
    reaches: reaches.memory,
  });
  await compareSubscribers({ stage, time, memory, ...rest });
  return [time, memory];
}
