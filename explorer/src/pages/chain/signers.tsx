import styles from './chain.module.css';

/** Which members of the committee have signed a block. The node sends their indexes, and not the number of members. */
export function Signers({ indexes }: { readonly indexes: readonly number[] | undefined }) {
  if (indexes === undefined) return <span className={styles.muted}>not readable</span>;
  if (indexes.length === 0) return <span className={styles.muted}>nobody</span>;
  const seats = Math.max(...indexes) + 1;
  const signed = new Set(indexes);
  return (
    <span className={styles.signers} title={`Signed by ${indexes.join(', ')}`}>
      <span className={styles.seats} aria-hidden="true">
        {Array.from({ length: Math.min(seats, MAX_SEATS) }, (_, seat) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the index is the seat
          <span key={seat} className={styles.seat} data-signed={signed.has(seat)} />
        ))}
      </span>
      <span>{indexes.length}</span>
      <span className="visually-hidden">{` signed: validators ${indexes.join(', ')}`}</span>
    </span>
  );
}

/** More than fit into the column are counted, not drawn. */
const MAX_SEATS = 32;
