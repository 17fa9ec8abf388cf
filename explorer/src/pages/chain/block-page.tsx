import { useMemo } from 'react';
import { Link, useParams } from 'react-router';
import { Page } from '../../app/page.tsx';
import { useServiceStatus } from '../../app/service-status.ts';
import { FINAL_AFTER } from '../../client/head-tracker.ts';
import { useHead, usePageQuery } from '../../client/hooks.ts';
import { formatInteger, UNKNOWN } from '../../format/numbers.ts';
import { formatDuration, formatExactTime, parseTime } from '../../format/times.ts';
import { Answered } from '../../parts/answered.tsx';
import { CopyableId } from '../../parts/copyable-id.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Skeleton, SkeletonRows } from '../../parts/skeleton.tsx';
import { BlockDocument } from './block.generated.ts';
import styles from './chain.module.css';
import { changedPools } from './changed-pools.ts';
import { ChangedPoolsTable } from './changed-pools-table.tsx';
import { Figures } from './figures.tsx';
import { type Block, blockPath, intervalOf, MOST_BLOCKS, useBlocks } from './use-blocks.ts';

/** The largest pools of each height are compared. */
const POOLS = 100;

/** One block of the beacon chain, and what it has changed: `/chain/blocks/<height>`. */
export function BlockPage() {
  const { height: text = '' } = useParams();
  const height = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
  const newest = useHead()?.beaconHeight;
  // The banner says why, as on the page of the newest blocks.
  const hasNoHead = useServiceStatus()?.head === null && newest === undefined;
  if (height === undefined) {
    return (
      <Page title="Block not found">
        <Panel title="There is no such block">
          <EmptyState title={`“${text}” is not the height of a block`}>
            <Link to="/chain/blocks">See the newest blocks</Link>
          </EmptyState>
        </Panel>
      </Page>
    );
  }
  const title = `Block ${formatInteger(height)}`;
  return (
    <Page
      title={title}
      description={<Link to="/chain/blocks">All newest blocks</Link>}
      actions={
        <nav className={styles.neighbours} aria-label="Blocks beside this one">
          {height > 1 && <Link to={blockPath(height - 1)} rel="prev">{`← ${formatInteger(height - 1)}`}</Link>}
          {newest !== undefined && height < newest && (
            <Link to={blockPath(height + 1)} rel="next">{`${formatInteger(height + 1)} →`}</Link>
          )}
        </nav>
      }
    >
      {hasNoHead ? (
        <Panel title="Block">
          <EmptyState title="The node has shown no chain yet" />
        </Panel>
      ) : newest !== undefined && height > newest ? (
        <Panel title="Block">
          <EmptyState title="This block does not exist yet">
            {`The newest block is ${formatInteger(newest)}. The page shows this one as soon as it is there.`}
          </EmptyState>
        </Panel>
      ) : (
        <BlockPanels height={height} newest={newest} />
      )}
    </Page>
  );
}

type BlockPanelsProps = { readonly height: number; readonly newest: number | undefined };

function BlockPanels({ height, newest }: BlockPanelsProps) {
  const isRecent = newest !== undefined && newest - height + 2 <= MOST_BLOCKS;
  const { byHeight, answer, isRecorded, failure } = useBlocks(MOST_BLOCKS, { pause: !isRecent });
  const block = byHeight.get(height);
  const time = parseTime(block?.time);
  const ms = intervalOf(height, byHeight);
  const isLoading = newest === undefined || (isRecent && isRecorded && answer.isLoading);

  // Another block can still replace it, which changes other pools.
  const isReplaceable = newest !== undefined && newest - height <= FINAL_AFTER;
  const changes = usePageQuery(
    BlockDocument,
    useMemo(() => ({ height, before: Math.max(1, height - 1), size: POOLS }), [height]),
    { pause: newest === undefined, ...(isReplaceable && { refresh: 'each-height' }) },
  );

  return (
    <>
      <Panel title="Block" query={isRecent && isRecorded ? answer.query : undefined} isBusy={isLoading}>
        <div className={styles.blockSpace}>
          {isLoading ? (
            <Skeleton height={5} />
          ) : (
            <>
              <Figures
                figures={[
                  { label: 'Beacon height', value: formatInteger(height) },
                  { label: 'Produced', value: <RelativeTime time={block?.time} /> },
                  { label: 'Block time', value: ms === undefined ? UNKNOWN : formatDuration(ms) },
                  { label: 'Confirmations', value: formatInteger(newest - height), note: 'blocks after it' },
                ]}
              />
              <dl className={styles.facts}>
                <dt>Time</dt>
                <dd translate="no">{time === undefined ? UNKNOWN : formatExactTime(time)}</dd>
                <dt>Hash</dt>
                <dd>
                  <CopyableId id={block?.hash} what="hash of the block" edge={12} />
                </dd>
              </dl>
              {block?.hash == null && (
                <p className={styles.muted}>{whyUnknown(block, isRecorded, failure, isRecent)}</p>
              )}
            </>
          )}
        </div>
      </Panel>
      <Panel title="What it changed" query={changes.query} isBusy={changes.isLoading} isFlush>
        <Answered
          answer={changes}
          pick={({ pools, poolsBefore }) => (pools === null || poolsBefore === null ? null : changes.data)}
          skeleton={<SkeletonRows rows={10} />}
          empty={<EmptyState title="The node has shown no pools" />}
        >
          {(data) => (
            <ChangedPoolsTable
              pools={changedPools(data)}
              total={data.pools?.totalCount ?? 0}
              compared={data.pools?.nodes.length ?? 0}
            />
          )}
        </Answered>
      </Panel>
    </>
  );
}

function whyUnknown(
  block: Block | undefined,
  isRecorded: boolean,
  failure: string | undefined,
  isRecent: boolean,
): string {
  if (block !== undefined) return 'The gateway read this block only after it was final, so it does not know its hash.';
  if (!isRecorded) return 'This gateway records no history, so it knows the time and the hash only of new blocks.';
  if (failure !== undefined) return failure;
  if (!isRecent) return `This page reads the time and the hash of at most the newest ${MOST_BLOCKS} blocks.`;
  return 'The gateway has not recorded this block, or lists only newer ones.';
}
