import { line } from 'd3-shape';
import styles from './sparkline.module.css';

type SparklineProps = {
  /** Values at even distances, the oldest first. What is null is left out. */
  readonly values: readonly (number | null)[];
};

const WIDTH = 96;
const HEIGHT = 24;
/** Keeps the line inside. */
const EDGE = 1.5;

/** A line without axes: where the values went. Screen readers get the change in another column. */
export function Sparkline({ values }: SparklineProps) {
  const path = sparklinePath(values);
  if (path === undefined) return null;
  const known = values.filter((value) => value !== null);
  const [first = 0, last = 0] = [known[0], known.at(-1)];
  const tone = last > first ? styles.up : last < first ? styles.down : styles.flat;
  return (
    <svg className={`${styles.line} ${tone}`} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** The line of at least two values; undefined if there are fewer. */
export function sparklinePath(values: readonly (number | null)[]): string | undefined {
  const points = values.flatMap((value, index) => (value === null ? [] : [{ index, value }]));
  if (points.length < 2) return undefined;
  const low = Math.min(...points.map(({ value }) => value));
  const high = Math.max(...points.map(({ value }) => value));
  const shareOf = (value: number) => (high === low ? 0.5 : (value - low) / (high - low));
  const draw = line<(typeof points)[number]>()
    .x(({ index }) => EDGE + (index / (values.length - 1)) * (WIDTH - 2 * EDGE))
    .y(({ value }) => HEIGHT - EDGE - shareOf(value) * (HEIGHT - 2 * EDGE))
    .digits(1);
  return draw(points) ?? undefined;
}
