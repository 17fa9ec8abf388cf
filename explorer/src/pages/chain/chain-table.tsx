import { Link } from 'react-router';
import { formatBigInt } from '../../format/amounts.ts';
import { formatInteger, UNKNOWN } from '../../format/numbers.ts';
import { CopyableId } from '../../parts/copyable-id.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Scroller } from '../../parts/scroller.tsx';
import tableStyles from '../../parts/table.module.css';
import type { ChainBlockFragment } from './chain.generated.ts';
import styles from './chain.module.css';
import { Signers } from './signers.tsx';
import { blockPath } from './use-blocks.ts';

/** The newest block of each chain: the beacon chain first. */
export function ChainTable({ blocks }: { readonly blocks: readonly ChainBlockFragment[] }) {
  return (
    <Scroller label="Chains and their newest blocks">
      <table className={`${tableStyles.table} ${tableStyles.fixed} ${styles.chains}`}>
        <thead>
          <tr>
            <th scope="col">Chain</th>
            <th scope="col" className={tableStyles.number}>
              Height
            </th>
            <th scope="col" className={tableStyles.number}>
              Age
            </th>
            <th scope="col" className={tableStyles.number}>
              Transactions
            </th>
            <th scope="col">Signed by</th>
            <th scope="col">Block</th>
            <th scope="col">Producer</th>
          </tr>
        </thead>
        <tbody>
          {blocks.map((block) => (
            <ChainRow key={block.chainId} block={block} />
          ))}
        </tbody>
      </table>
    </Scroller>
  );
}

function ChainRow({ block }: { readonly block: ChainBlockFragment }) {
  const { chainId, isBeacon, height, hash, time, totalTxs, blockProducer, validationData } = block;
  return (
    <tr>
      <th scope="row">{isBeacon ? 'Beacon' : `Shard ${chainId}`}</th>
      <td className={tableStyles.number} translate="no">
        {isBeacon ? <Link to={blockPath(height)}>{formatInteger(height)}</Link> : formatInteger(height)}
      </td>
      <td className={tableStyles.number}>
        <RelativeTime time={time} />
      </td>
      <td className={tableStyles.number} translate="no">
        {isBeacon ? UNKNOWN : formatBigInt(totalTxs)}
      </td>
      <td>
        <Signers indexes={validationData?.validatorsIdx} />
      </td>
      <td>
        <CopyableId id={hash} what={`hash of the block of ${isBeacon ? 'the beacon chain' : `shard ${chainId}`}`} />
      </td>
      <td>
        <CopyableId id={blockProducer} what={`producer of ${isBeacon ? 'the beacon chain' : `shard ${chainId}`}`} />
      </td>
    </tr>
  );
}
