import type { Answer } from '../../client/hooks.ts';
import { formatInteger } from '../../format/numbers.ts';
import { Answered } from '../../parts/answered.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Freshness } from '../../parts/freshness.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import type { CoverageQuery } from './coverage.generated.ts';
import styles from './status.module.css';

/** Which heights are recorded. */
export function CoveragePanel({ answer }: { readonly answer: Answer<CoverageQuery> }) {
  return (
    <Panel title="Recorded heights" query={answer.query} freshness={<Freshness height={answer.height} />}>
      <div className={styles.coverage}>
        <Answered
          answer={answer}
          pick={({ history }) => history}
          at={['history']}
          skeleton={<Skeleton lines={5} />}
          empty={
            <EmptyState title="Nothing is recorded yet">The first blocks are recorded when they are final.</EmptyState>
          }
        >
          {(history) => <Coverage history={history} />}
        </Answered>
      </div>
    </Panel>
  );
}

type RecordedHistory = NonNullable<CoverageQuery['history']>;

function Coverage({ history }: { readonly history: RecordedHistory }) {
  const { firstHeight, firstTime, lastHeight, lastTime, heights, isBackfilling } = history;
  return (
    <dl className={styles.facts}>
      <dt>From</dt>
      <dd>
        <span>{`${formatInteger(firstHeight)},`}</span> <RelativeTime time={firstTime} />
      </dd>
      <dt>To</dt>
      <dd>
        <span>{`${formatInteger(lastHeight)},`}</span> <RelativeTime time={lastTime} />
      </dd>
      <dt>Heights</dt>
      <dd>{`${formatInteger(heights)} of ${formatInteger(lastHeight - firstHeight + 1)}`}</dd>
      <dt>Missing</dt>
      <dd>{describeMissing(history)}</dd>
      <dt>Older heights</dt>
      <dd>{isBackfilling ? 'are being read from the node' : 'nothing more to read now'}</dd>
    </dl>
  );
}

/** The newest gaps by name, and how many heights the others have together. */
function describeMissing({ firstHeight, lastHeight, heights, gaps }: RecordedHistory): string {
  const named = gaps.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  const others = lastHeight - firstHeight + 1 - heights - named;
  const names = gaps.map(({ from, to }) =>
    from === to ? formatInteger(from) : `${formatInteger(from)} to ${formatInteger(to)}`,
  );
  const more = others > 0 ? [`and ${formatInteger(others)} more ${others === 1 ? 'height' : 'heights'}`] : [];
  return [...names, ...more].join('; ') || 'none';
}
