import { Link } from 'react-router';
import { Page } from '../../app/page.tsx';
import { useServiceStatus } from '../../app/service-status.ts';
import { useHead } from '../../client/hooks.ts';
import { formatInteger, UNKNOWN } from '../../format/numbers.ts';
import { formatDuration } from '../../format/times.ts';
import { CopyableId } from '../../parts/copyable-id.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Freshness } from '../../parts/freshness.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Scroller } from '../../parts/scroller.tsx';
import { SkeletonRows } from '../../parts/skeleton.tsx';
import { useSteady } from '../../parts/steady.ts';
import tableStyles from '../../parts/table.module.css';
import styles from './chain.module.css';
import { type Block, blockPath, intervalOf, useBlocks } from './use-blocks.ts';

const SHOWN = 50;

/** The newest blocks of the beacon chain, newest first. */
export function BlocksPage() {
  const newest = useHead()?.beaconHeight;
  const { steady: first, handlers } = useSteady(newest);
  // The banner says why: no node is configured, or it could not be read since the gateway has started.
  const hasNoHead = useServiceStatus()?.head === null;
  // The interval of the oldest one needs the block below it.
  const { byHeight, answer, isRecorded, failure } = useBlocks(SHOWN + 1);
  const heights = first === undefined ? [] : Array.from({ length: Math.min(SHOWN, first) }, (_, age) => first - age);
  const listed = answer.data?.history?.blocks;
  const lacksSome = listed != null && listed.length < heights.length && heights.some((height) => !byHeight.has(height));

  return (
    <Page
      title="Blocks"
      description={
        <>
          <span>The newest blocks of the</span> <Link to="/chain">beacon chain</Link>
        </>
      }
    >
      <Panel
        title="Newest blocks"
        query={isRecorded ? answer.query : undefined}
        freshness={<Freshness height={newest} />}
        isBusy={newest === undefined && !hasNoHead}
        isFlush
      >
        {!isRecorded && (
          <p className={styles.above}>
            This gateway records no history, so times and hashes are known from when this page was opened.
          </p>
        )}
        {lacksSome && (
          <p className={styles.above}>The gateway has not recorded the other blocks, or lists only newer ones.</p>
        )}
        {failure !== undefined && <p className={styles.above}>{failure}</p>}
        {first === undefined ? (
          hasNoHead ? (
            <EmptyState title="The node has shown no chain yet" />
          ) : (
            <SkeletonRows rows={20} />
          )
        ) : (
          <Scroller label="Blocks">
            <table {...handlers} className={`${tableStyles.table} ${styles.blocks}`}>
              <thead>
                <tr>
                  <th scope="col">Height</th>
                  <th scope="col" className={tableStyles.number}>
                    Age
                  </th>
                  <th scope="col" className={tableStyles.number}>
                    Took
                  </th>
                  <th scope="col">Hash</th>
                </tr>
              </thead>
              <tbody>
                {heights.map((height) => (
                  // A row keeps its place when there is a new block: only its content changes.
                  <BlockRow
                    key={first - height}
                    height={height}
                    block={byHeight.get(height)}
                    ms={intervalOf(height, byHeight)}
                  />
                ))}
              </tbody>
            </table>
          </Scroller>
        )}
      </Panel>
    </Page>
  );
}

type BlockRowProps = {
  readonly height: number;
  readonly block: Block | undefined;
  readonly ms: number | undefined;
};

function BlockRow({ height, block, ms }: BlockRowProps) {
  return (
    <tr>
      <th scope="row" translate="no">
        <Link to={blockPath(height)}>{formatInteger(height)}</Link>
      </th>
      <td className={tableStyles.number}>
        <RelativeTime time={block?.time} />
      </td>
      <td className={tableStyles.number} translate="no">
        {ms === undefined ? UNKNOWN : formatDuration(ms)}
      </td>
      <td>
        <CopyableId id={block?.hash} what={`hash of block ${formatInteger(height)}`} edge={4} />
      </td>
    </tr>
  );
}
