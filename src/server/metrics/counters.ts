import type { Metric, MetricValueWithName, Registry } from 'prom-client';

/** What is counted, and the names of the labels that tell the counts apart. */
export type Counted = { readonly name: string; readonly help: string; readonly labelNames: readonly string[] };

/** What is timed, and the bounds of the buckets that are told of it, in seconds. */
export type Timed = Counted & { readonly buckets: readonly number[] };

/** The values of labels, in the order of their names. */
export type LabelValues = readonly (string | number)[];

/** One number that only rises. */
export type Count = { add(): void };

/** How long something took, each time that it was done. */
export type Times = { observe(seconds: number): void };

/** What is told of labels. */
type Labels = Readonly<Record<string, string | number>>;

/**
 * Makes counts and tells a registry of them.
 *
 * They are plain numbers until someone reads them: the library's own counters look labels up each time, which takes longer
 * than all else that a request for a kept answer does here.
 *
 * @returns the count with some labels, made when it is first asked for
 */
export function createCounts({ name, help, labelNames }: Counted, registry: Registry): (labels: LabelValues) => Count {
  const all = new Map<string | number, Count & { readonly labels: Labels; value: number }>();
  register(registry, { name, help, type: 'counter' }, () =>
    [...all.values()].map(({ labels, value }) => ({ labels, value })),
  );

  return (labels) => {
    const key = keyOf(labels);
    const before = all.get(key);
    if (before !== undefined) return before;
    const count = {
      labels: named(labelNames, labels),
      value: 0,
      add() {
        count.value += 1;
      },
    };
    all.set(key, count);
    return count;
  };
}

/** Makes times and tells a registry of them as a histogram, as {@link createCounts} does. */
export function createTimes(about: Timed, registry: Registry): (labels: LabelValues) => Times {
  const { name, help, labelNames, buckets: bounds } = about;
  const all = new Map<string | number, Histogram>();
  register(registry, { name, help, type: 'histogram' }, () =>
    [...all.values()].flatMap((histogram) => toValues(name, bounds, histogram)),
  );

  return (labels) => {
    const key = keyOf(labels);
    const before = all.get(key);
    if (before !== undefined) return before;
    const histogram = {
      labels: named(labelNames, labels),
      buckets: bounds.map(() => 0),
      count: 0,
      sum: 0,
      observe(seconds: number) {
        histogram.count += 1;
        histogram.sum += seconds;
        let place = 0;
        while (seconds > (bounds[place] ?? Number.POSITIVE_INFINITY)) place += 1;
        if (place < bounds.length) histogram.buckets[place] = (histogram.buckets[place] ?? 0) + 1;
      },
    };
    all.set(key, histogram);
    return histogram;
  };
}

type Histogram = Times & {
  readonly labels: Labels;
  /** How many took as long as each bucket allows, and longer than the one before. */
  readonly buckets: number[];
  count: number;
  sum: number;
};

/** What is counted by one label is found by its value, which need not be written anew. */
function keyOf(labels: LabelValues): string | number {
  return labels.length === 1 ? (labels[0] ?? '') : labels.join();
}

function named(names: readonly string[], values: LabelValues): Labels {
  return Object.fromEntries(names.map((name, place) => [name, values[place] ?? '']));
}

function toValues(
  name: string,
  bounds: readonly number[],
  { labels, buckets: each, count, sum }: Histogram,
): MetricValueWithName<string>[] {
  if (count === 0) return [];
  let below = 0;
  const buckets = bounds.map((le, place) => {
    below += each[place] ?? 0;
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/** All that a registry asks of a metric is its name, and what it is when it is read. */
function register(
  registry: Registry,
  about: { readonly name: string; readonly help: string; readonly type: string },
  values: () => readonly object[],
): void {
  const metric = { ...about, get: async () => ({ ...about, aggregator: 'sum', values: values() }) };
  registry.registerMetric(metric as unknown as Metric);
}
