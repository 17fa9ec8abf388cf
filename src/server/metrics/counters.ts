import type { Metric, Registry } from 'prom-client';

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

type Labels = Readonly<Record<string, LabelValue>>;

/**
 * Creates the counters of a metric and registers them.
 *
 * They are plain numbers until they are read. The counters of prom-client look up the labels at each increment, which takes
 * longer than everything else that a response cache hit counts.
 *
 * @returns the counter of some label values
 */
export function createCounters(options: CounterOptions, registry: Registry): Find<FastCounter> {
  return createCounts(options, 'counter', registry, (labels) => {
    let value = 0;
    return {
      inc() {
        value += 1;
      },
      samples: () => [{ labels, value }],
    };
  });
}

/** Creates the histograms of a metric and registers them, as {@link createCounters} does. */
export function createHistograms(options: HistogramOptions, registry: Registry): Find<FastHistogram> {
  const { name, buckets: bounds } = options;
  return createCounts(options, 'histogram', registry, (labels) => {
    /** The number of values in each bucket, without those of the buckets below. */
    const buckets = bounds.map(() => 0);
    let count = 0;
    let sum = 0;
    return {
      observe(seconds) {
        count += 1;
        sum += seconds;
        let place = 0;
        while (seconds > (bounds[place] ?? Number.POSITIVE_INFINITY)) place += 1;
        if (place < bounds.length) buckets[place] = (buckets[place] ?? 0) + 1;
      },
      samples() {
        let below = 0;
        const ofBuckets = bounds.map((le, place) => {
          below += buckets[place] ?? 0;
          return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
        });
        return [
          ...ofBuckets,
          { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
          { metricName: `${name}_sum`, labels, value: sum },
          { metricName: `${name}_count`, labels, value: count },
        ];
      },
    };
  });
}

/** Registers a metric. Finding one of its counts allocates nothing: a text as the key would take longer than counting. */
function createCounts<Count>(
  { name, help, labelNames }: CounterOptions,
  type: 'counter' | 'histogram',
  registry: Registry,
  create: (labels: Labels) => Count & { samples(): readonly object[] },
): Find<Count> {
  const counts = new Map<LabelValue, Map<LabelValue | undefined, ReturnType<typeof create>>>();
  /** The one that was found last: most requests have the same endpoint and status. */
  let last: { readonly first: LabelValue; readonly second: LabelValue | undefined; readonly count: Count } | undefined;

  function add(first: LabelValue, second: LabelValue | undefined): Count {
    const values = [first, second];
    const count = create(Object.fromEntries(labelNames.map((label, place) => [label, values[place] ?? ''])));
    const others = counts.get(first) ?? new Map<LabelValue | undefined, typeof count>();
    counts.set(first, others.set(second, count));
    return count;
  }

  const samples = () => [...counts.values()].flatMap((each) => [...each.values()].flatMap((count) => count.samples()));
  // A registry needs only the name of a metric, and the function that reads its values.
  const metric = { name, get: async () => ({ name, help, type, aggregator: 'sum', values: samples() }) };
  registry.registerMetric(metric as unknown as Metric);
  return (first, second) => {
    if (last?.first === first && last.second === second) return last.count;
    const count = counts.get(first)?.get(second) ?? add(first, second);
    last = { first, second, count };
    return count;
  };
}
