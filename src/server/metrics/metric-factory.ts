import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** What others count: one number, which is 0 while there is none, or one for each value of the label. */
type Observed = number | undefined | Iterable<readonly [labelValue: string, value: number]>;

type Metric = { reset(): void; inc(labels: Readonly<Record<string, string>>, value: number): void };

/** Creates metrics and registers them. */
export type MetricFactory = ReturnType<typeof createMetricFactory>;

/** Creates the factory of the metrics of one registry. A metric is named with its labels: `pdex_errors_total{code}`. */
export function createMetricFactory(registry: Registry) {
  function configOf(named: string, help: string) {
    const [name = '', ...labelNames] = named.match(/\w+/g) ?? [];
    return { name, help, labelNames, registers: [registry] };
  }

  /** A metric of what others count: its values are read each time that Prometheus reads the metrics. */
  function observedConfigOf(named: string, help: string, read: () => Observed) {
    const config = configOf(named, help);
    const [label = ''] = config.labelNames;
    return {
      ...config,
      collect(this: Metric) {
        this.reset();
        const observed = read() ?? 0;
        if (typeof observed === 'number') this.inc({}, observed);
        else for (const [labelValue, value] of observed) this.inc({ [label]: labelValue }, value);
      },
    };
  }

  return {
    counter: (named: string, help: string) => new Counter(configOf(named, help)),
    gauge: (named: string, help: string) => new Gauge(configOf(named, help)),
    /** @param buckets their upper bounds, in seconds */
    histogram: (named: string, help: string, buckets: number[]) => new Histogram({ ...configOf(named, help), buckets }),
    /** A gauge of what others count, with one label at most. */
    gaugeOf: (named: string, help: string, read: () => Observed) => new Gauge(observedConfigOf(named, help, read)),
    /** The same as a counter. */
    counterOf: (named: string, help: string, read: () => Observed) => new Counter(observedConfigOf(named, help, read)),
  };
}
