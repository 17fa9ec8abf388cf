import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

type EachValue = Iterable<readonly [labelValue: string, value: number]>;

/** A gauge or counter of prom-client. */
type Metric = { reset(): void; inc(labels: Readonly<Record<string, string>>, value: number): void };

/** Creates metrics and registers them. */
export type MetricFactory = ReturnType<typeof createMetricFactory>;

/** Creates the factory of the metrics of one registry. */
export function createMetricFactory(registry: Registry) {
  const registers = [registry];

  /** A metric of what others count: its values are read each time that Prometheus reads the metrics. */
  const collected = (name: string, help: string, labelNames: string[], read: () => EachValue) => ({
    ...{ name, help, labelNames, registers },
    collect(this: Metric) {
      this.reset();
      for (const [labelValue, value] of read()) this.inc(labelNames[0] ? { [labelNames[0]]: labelValue } : {}, value);
    },
  });
  const ofOne = (read: () => number | undefined) => (): EachValue => [['', read() ?? 0]];

  return {
    counter: (name: string, help: string, ...labelNames: string[]) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: (name: string, help: string, ...labelNames: string[]) => new Gauge({ name, help, labelNames, registers }),
    /** @param buckets their upper bounds, in seconds */
    histogram: (name: string, help: string, buckets: number[], ...labelNames: string[]) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
    /** A gauge or counter without labels, of what others count. It is 0 while there is no value. */
    gaugeOf: (name: string, help: string, read: () => number | undefined) =>
      void new Gauge(collected(name, help, [], ofOne(read))),
    counterOf: (name: string, help: string, read: () => number | undefined) =>
      void new Counter(collected(name, help, [], ofOne(read))),
    /** A gauge or counter of what others count, with one label, and a value for each of its label values. */
    gaugeOfEach: (name: string, help: string, label: string, read: () => EachValue) =>
      void new Gauge(collected(name, help, [label], read)),
    counterOfEach: (name: string, help: string, label: string, read: () => EachValue) =>
      void new Counter(collected(name, help, [label], read)),
  };
}
