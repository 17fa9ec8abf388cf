import { Link } from 'react-router';
import { Page } from '../../app/page.tsx';
import { useGatewayQuery, usePageQuery } from '../../client/hooks.ts';
import { formatBigInt } from '../../format/amounts.ts';
import { formatInteger } from '../../format/numbers.ts';
import { formatDuration } from '../../format/times.ts';
import { Answered } from '../../parts/answered.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Freshness } from '../../parts/freshness.tsx';
import { Panel } from '../../parts/panel.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Skeleton, SkeletonRows } from '../../parts/skeleton.tsx';
import { intervalsOf, medianOf } from './block-intervals.ts';
import { BlockTimesDocument } from './block-times.generated.ts';
import { BlockTimesPanel } from './block-times-panel.tsx';
import { type ChainBlockFragment, ChainDocument } from './chain.generated.ts';
import styles from './chain.module.css';
import { ChainTable } from './chain-table.tsx';
import { EpochProgress } from './epoch-progress.tsx';
import { Figures } from './figures.tsx';

const NO_VARIABLES = {};
/** One interval less than blocks is shown. */
const BLOCKS = { size: 61 };

/** The beacon chain and the shards: how far they are, who signed, and how long the blocks take. */
export function ChainPage() {
  const chain = useGatewayQuery(ChainDocument, NO_VARIABLES, { refresh: 'each-height' });
  const times = usePageQuery(BlockTimesDocument, BLOCKS, { refresh: 'each-height' });
  const intervalMs = medianOf(intervalsOf(times.data?.history?.blocks ?? []));
  const freshness = <Freshness height={chain.height} />;
  const name = chain.data?.chainInfo?.chainName;

  return (
    <Page
      title="Chain"
      description={name === undefined ? 'The beacon chain and its shards' : `The network “${name}”`}
      actions={<Link to="/chain/blocks">Newest blocks</Link>}
    >
      <Panel title="Beacon chain" query={chain.query} freshness={freshness}>
        <div className={styles.beaconSpace}>
          <Answered
            answer={chain}
            pick={({ chainInfo }) => chainInfo?.bestBlocks}
            at={['chainInfo']}
            skeleton={<Skeleton height={6} />}
            empty={<EmptyState title="The node has shown no chain yet" />}
          >
            {(blocks) => <Beacon blocks={blocks} intervalMs={intervalMs} />}
          </Answered>
        </div>
      </Panel>
      <BlockTimesPanel answer={times} />
      <Panel title="Newest block of each chain" query={chain.query} freshness={freshness} isFlush>
        <Answered
          answer={chain}
          pick={({ chainInfo }) => chainInfo?.bestBlocks}
          at={['chainInfo']}
          skeleton={<SkeletonRows rows={10} />}
          empty={<EmptyState title="The node has shown no chain yet" />}
        >
          {(blocks) => <ChainTable blocks={blocks} />}
        </Answered>
      </Panel>
    </Page>
  );
}

type BeaconProps = { readonly blocks: readonly ChainBlockFragment[]; readonly intervalMs: number | undefined };

function Beacon({ blocks, intervalMs }: BeaconProps) {
  const beacon = blocks.find(({ isBeacon }) => isBeacon);
  if (beacon === undefined) return <EmptyState title="The node has shown no beacon chain yet" />;
  const shards = blocks.filter(({ isBeacon }) => !isBeacon);
  const transactions = shards.reduce((sum, { totalTxs }) => sum + BigInt(totalTxs), 0n);
  return (
    <div className={styles.beacon}>
      <Figures
        figures={[
          { label: 'Beacon height', value: formatInteger(beacon.height) },
          { label: 'Newest block', value: <RelativeTime time={beacon.time} /> },
          { label: 'Block time', value: intervalMs === undefined ? '–' : formatDuration(intervalMs), note: 'median' },
          { label: 'Shards', value: formatInteger(shards.length) },
          { label: 'Transactions', value: formatBigInt(transactions), note: 'of all shards' },
        ]}
      />
      <EpochProgress
        epoch={beacon.epoch}
        blocks={beacon.epochBlock}
        remaining={beacon.remainingBlockEpoch}
        intervalMs={intervalMs}
      />
    </div>
  );
}
