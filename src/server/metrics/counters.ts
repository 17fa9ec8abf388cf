import type { Metric, MetricValueWithName, Registry } from 'prom-client';

/** Name, help and label names of a counter. */
type CounterOptions = { readonly name: string; readonly help: string; readonly labelNames: readonly string[] };

/** The same of a histogram, with the upper bounds of its buckets, in seconds. */
type HistogramOptions = CounterOptions & { readonly buckets: readonly number[] };

/** The values of labels, in the order of the label names. */
type LabelValues = readonly (string | number)[];

/** The counter of one set of label values. */
type FastCounter = { inc(): void };

/** The histogram of one set of label values. */
type FastHistogram = { observe(seconds: number): void };

type Labels = Readonly<Record<string, string | number>>;

/**
 * Creates the counters of a metric and registers them.
 *
 * They are plain numbers until they are read. The counters of prom-client look up the labels at each increment, which takes
 * longer than everything else that a response cache hit counts.
 *
 * @returns the counter of some label values, which is created at its first use
 */
export function createCounters(
  { name, help, labelNames }: CounterOptions,
  registry: Registry,
): (labels: LabelValues) => FastCounter {
  const all = new Map<string | number, FastCounter & { readonly labels: Labels; value: number }>();
  register(registry, { name, help, type: 'counter' }, () =>
    [...all.values()].map(({ labels, value }) => ({ labels, value })),
  );

  return (labels) => {
    const key = keyOf(labels);
    const before = all.get(key);
    if (before !== undefined) return before;
    const count = {
      labels: toLabels(labelNames, labels),
      value: 0,
      inc() {
        count.value += 1;
      },
    };
    all.set(key, count);
    return count;
  };
}

/** Creates the histograms of a metric and registers them, as {@link createCounters} does. */
export function createHistograms(
  options: HistogramOptions,
  registry: Registry,
): (labels: LabelValues) => FastHistogram {
  const { name, help, labelNames, buckets: bounds } = options;
  const all = new Map<string | number, HistogramState>();
  register(registry, { name, help, type: 'histogram' }, () =>
    [...all.values()].flatMap((histogram) => toSamples(name, bounds, histogram)),
  );

  return (labels) => {
    const key = keyOf(labels);
    const before = all.get(key);
    if (before !== undefined) return before;
    const histogram = {
      labels: toLabels(labelNames, labels),
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

type HistogramState = FastHistogram & {
  readonly labels: Labels;
  /** The number of values in each bucket, without those of the buckets below. */
  readonly buckets: number[];
  count: number;
  sum: number;
};

/** A single label value is its own key, so that no text is built. */
function keyOf(labels: LabelValues): string | number {
  return labels.length === 1 ? (labels[0] ?? '') : labels.join();
}

function toLabels(names: readonly string[], values: LabelValues): Labels {
  return Object.fromEntries(names.map((name, place) => [name, values[place] ?? '']));
}

function toSamples(
  name: string,
  bounds: readonly number[],
  { labels, buckets: each, count, sum }: HistogramState,
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

/** A registry needs only the name of a metric, and the function that reads its values. */
function register(
  registry: Registry,
  options: { readonly name: string; readonly help: string; readonly type: string },
  values: () => readonly object[],
): void {
  const metric = { ...options, get: async () => ({ ...options, aggregator: 'sum', values: values() }) };
  registry.registerMetric(metric as unknown as Metric);
}
