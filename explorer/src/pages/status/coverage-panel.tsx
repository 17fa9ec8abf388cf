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

function Coverage({ history }: { readonly history: NonNullable<CoverageQuery['history']> }) {
  const { firstHeight, firstTime, lastHeight, lastTime, heights, gaps, isBackfilling } = history;
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
      <dd>
        {gaps.length === 0
          ? 'none'
          : gaps
              .map(({ from, to }) =>
                from === to ? formatInteger(from) : `${formatInteger(from)} to ${formatInteger(to)}`,
              )
              .join('; ')}
      </dd>
      <dt>Older heights</dt>
      <dd>{isBackfilling ? 'are being read from the node' : 'are not being read'}</dd>
    </dl>
  );
}
