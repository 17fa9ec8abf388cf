import { lazy, Suspense, useMemo } from 'react';
import type { Answer } from '../../client/hooks.ts';
import { formatInteger } from '../../format/numbers.ts';
import { formatDuration } from '../../format/times.ts';
import { Answered } from '../../parts/answered.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Freshness } from '../../parts/freshness.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { type BlockInterval, intervalsOf, medianOf } from './block-intervals.ts';
import type { BlockTimesQuery } from './block-times.generated.ts';
import styles from './chain.module.css';

const BlockTimesChart = lazy(async () => ({ default: (await import('./block-times-chart.tsx')).BlockTimesChart }));

/** The height of the chart, in rem. */
const HEIGHT = 14;

/** How long each of the newest blocks took. */
export function BlockTimesPanel({ answer }: { readonly answer: Answer<BlockTimesQuery> }) {
  return (
    <Panel title="Block times" query={answer.query} freshness={<Freshness height={answer.height} />}>
      <div className={styles.times}>
        <Answered
          answer={answer}
          pick={({ history }) => history?.blocks}
          at={['history']}
          skeleton={<Skeleton height={HEIGHT + 2} />}
          empty={
            <EmptyState title="Nothing is recorded yet">The first blocks are recorded when they are final.</EmptyState>
          }
        >
          {(blocks) => <BlockTimes blocks={blocks} />}
        </Answered>
      </div>
    </Panel>
  );
}

type Blocks = NonNullable<NonNullable<BlockTimesQuery['history']>['blocks']>;

function BlockTimes({ blocks }: { readonly blocks: Blocks }) {
  const intervals = useMemo(() => intervalsOf(blocks), [blocks]);
  const median = medianOf(intervals);
  if (median === undefined)
    return <EmptyState title="One block is not enough">The chart begins with the next one.</EmptyState>;
  return (
    <>
      <p className={styles.summary}>{describe(intervals, median)}</p>
      <Suspense fallback={<Skeleton height={HEIGHT} />}>
        <BlockTimesChart intervals={intervals} medianMs={median} />
      </Suspense>
    </>
  );
}

/** The chart in words: a canvas has nothing to read. */
function describe(intervals: readonly BlockInterval[], median: number): string {
  const longest = intervals.reduce((a, b) => (b.ms > a.ms ? b : a));
  return `The last ${formatInteger(intervals.length)} blocks took ${formatDuration(median)} each (median). The slowest, ${formatInteger(longest.height)}, took ${formatDuration(longest.ms)}.`;
}
