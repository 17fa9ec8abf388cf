import styles from './skeleton.module.css';

type SkeletonProps = {
  /** Number of lines. */
  readonly lines?: number;
  /** Height of the whole, in rem, where a chart or a table will be: nothing moves when it arrives. */
  readonly height?: number;
};

/** Stands where data will be. Screen readers get the words. */
export function Skeleton({ lines = 3, height }: SkeletonProps) {
  return (
    <div className={styles.skeleton}>
      <span className="visually-hidden">Loading…</span>
      {height === undefined ? (
        Array.from({ length: lines }, (_, line) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same
          <span key={line} className={styles.line} aria-hidden="true" />
        ))
      ) : (
        <span className={styles.block} style={{ height: `${height}rem` }} aria-hidden="true" />
      )}
    </div>
  );
}

/** Stands where the rows of a table will be, as high as they are. */
export function SkeletonRows({ rows }: { readonly rows: number }) {
  return (
    <div className={styles.rows}>
      <span className="visually-hidden">Loading…</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all the same
        <div key={row} className={styles.row} aria-hidden="true">
          <span className={styles.line} />
          <span className={styles.line} />
        </div>
      ))}
    </div>
  );
}
