import { formatInteger } from '../../format/numbers.ts';
import { formatDuration } from '../../format/times.ts';
import styles from './chain.module.css';

type EpochProgressProps = {
  readonly epoch: number;
  /** Number of blocks of an epoch. */
  readonly blocks: number;
  /** Number of blocks that are left, as the node counts them: at the last block of an epoch, all of the next one. */
  readonly remaining: number;
  /** The usual time between two blocks; undefined if it is not known. */
  readonly intervalMs: number | undefined;
};

/** How much of the epoch is over, and about how long the rest takes. */
export function EpochProgress({ epoch, blocks, remaining, intervalMs }: EpochProgressProps) {
  const left = remaining % blocks;
  const done = blocks - left;
  const time = intervalMs === undefined || left === 0 ? '' : `, about ${formatDuration(left * intervalMs)}`;
  const text = `${formatInteger(done)} of ${formatInteger(blocks)} blocks`;
  return (
    <div className={styles.epoch}>
      <div className={styles.epochText}>
        <strong>{`Epoch ${formatInteger(epoch)}`}</strong>
        <span className={styles.muted}>{`${text}; ${formatInteger(left)} left${time}`}</span>
      </div>
      <progress className={styles.progress} max={blocks} value={done} aria-label={`Epoch ${epoch}`}>
        {text}
      </progress>
    </div>
  );
}
