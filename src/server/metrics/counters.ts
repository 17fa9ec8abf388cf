import type { Metric, MetricValueWithName, Registry } from 'prom-client';

/** Name, help and label names of a counter. */
type CounterOptions = { readonly name: string; readonly help: string; readonly labelNames: readonly string[] };

/** The same of a histogram, with the upper bounds of its buckets, in seconds. */
type HistogramOptions = CounterOptions & { readonly buckets: readonly number[] };

type LabelValue = string | number;

/** Finds what counts for the values of one or two labels, in the order of the label names. It is created at its first use. */
type Find<Count> = (first: LabelValue, second?: LabelValue) => Count;

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
 * @returns the counter of some label values
 */
export function createCounters({ name, help, labelNames }: CounterOptions, registry: Registry): Find<FastCounter> {
  const { find, all } = createCounts(labelNames, (labels) => {
    const count = {
      labels,
      value: 0,
      inc() {
        count.value += 1;
      },
    };
    return count;
  });
  register(registry, { name, help, type: 'counter' }, () => all().map(({ labels, value }) => ({ labels, value })));
  return find;
}

/** Creates the histograms of a metric and registers them, as {@link createCounters} does. */
export function createHistograms(options: HistogramOptions, registry: Registry): Find<FastHistogram> {
  const { name, help, labelNames, buckets: bounds } = options;
  const { find, all } = createCounts(labelNames, (labels): HistogramState => {
    const histogram = {
      labels,
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
    return histogram;
  });
  register(registry, { name, help, type: 'histogram' }, () =>
    all().flatMap((histogram) => toSamples(name, bounds, histogram)),
  );
  return find;
}

type HistogramState = FastHistogram & {
  readonly labels: Labels;
  /** The number of values in each bucket, without those of the buckets below. */
  readonly buckets: number[];
  count: number;
  sum: number;
};

/** Creates the counts of a metric. Finding one allocates nothing: a text as the key would take longer than counting. */
function createCounts<Count>(names: readonly string[], create: (labels: Labels) => Count) {
  const counts = new Map<LabelValue, Map<LabelValue | undefined, Count>>();

  function add(first: LabelValue, second: LabelValue | undefined): Count {
    const values = [first, second];
    const count = create(Object.fromEntries(names.map((name, place) => [name, values[place] ?? ''])));
    const others = counts.get(first) ?? new Map<LabelValue | undefined, Count>();
    counts.set(first, others.set(second, count));
    return count;
  }

  return {
    find: (first: LabelValue, second?: LabelValue): Count => counts.get(first)?.get(second) ?? add(first, second),
    all: () => [...counts.values()].flatMap((each) => [...each.values()]),
  };
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
