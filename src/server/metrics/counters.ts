import type { Metric, Registry } from 'prom-client';

/** Name, help and label names of a counter. */
type CounterOptions = { readonly name: string; readonly help: string; readonly labelNames: readonly string[] };

/** The same of a histogram, with the upper bounds of its buckets, in seconds. */
type HistogramOptions = CounterOptions & { readonly buckets: readonly number[] };

type LabelValue = string | number;

/** Finds what counts for the values of the labels, in the order of the label names. */
type Find<Count> = (...values: readonly LabelValue[]) => Count;

type Labels = Readonly<Record<string, LabelValue>>;

/**
 * Creates the counters of a metric and registers them.
 *
 * They are plain numbers until they are read. Those of prom-client sort and join the labels each time that they count: 2 to 3 µs for
 * the three counts of a response cache hit, a tenth of its time, in place of 0.6 µs.
 *
 * @returns the counter of some label values
 */
export function createCounters(options: CounterOptions, registry: Registry): Find<{ inc(): void }> {
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
export function createHistograms(
  options: HistogramOptions,
  registry: Registry,
): Find<{ observe(seconds: number): void }> {
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

/** Registers a metric, whose counts are created at their first use. */
function createCounts<Count>(
  { name, help, labelNames }: CounterOptions,
  type: 'counter' | 'histogram',
  registry: Registry,
  create: (labels: Labels) => Count & { samples(): readonly object[] },
): Find<Count> {
  const counts = new Map<string, ReturnType<typeof create>>();
  const samples = () => [...counts.values()].flatMap((count) => count.samples());
  // A registry needs only the name of a metric, and the function that reads its values.
  const metric = { name, get: async () => ({ name, help, type, aggregator: 'sum', values: samples() }) };
  registry.registerMetric(metric as unknown as Metric);
  return (...values) => {
    // A text of one label has its hash already.
    const key = values.length === 1 ? String(values[0]) : values.join();
    const known = counts.get(key);
    if (known !== undefined) return known;
    const count = create(Object.fromEntries(labelNames.map((label, place) => [label, values[place] ?? ''])));
    counts.set(key, count);
    return count;
  };
}
