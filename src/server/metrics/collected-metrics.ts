import { Counter, Gauge, type Registry } from 'prom-client';

/** Registers metrics of what others count: the values are read each time that Prometheus reads the metrics. */
export type CollectedMetrics = {
  /** A gauge or counter without labels. It is 0 while there is no value. */
  readonly gauge: RegisterOne;
  readonly counter: RegisterOne;
  /** A gauge or counter with one label, and a value for each of its label values. */
  readonly gaugeOfEach: RegisterEach;
  readonly counterOfEach: RegisterEach;
};

type RegisterOne = (name: string, help: string, read: () => number | undefined) => void;

type EachValue = Iterable<readonly [labelValue: string, value: number]>;
type RegisterEach = (name: string, help: string, label: string, read: () => EachValue) => void;

/** A gauge or counter of prom-client. */
type Metric = { reset(): void; inc(labels: Readonly<Record<string, string>>, value: number): void };

/** Creates the functions that register metrics. */
export function createCollectedMetrics(registry: Registry): CollectedMetrics {
  const registers = [registry];

  const ofOne = (read: () => number | undefined) => ({
    registers,
    collect(this: Metric) {
      this.reset();
      this.inc({}, read() ?? 0);
    },
  });
  const ofEach = (label: string, read: () => EachValue) => ({
    registers,
    labelNames: [label],
    collect(this: Metric) {
      this.reset();
      for (const [labelValue, value] of read()) this.inc({ [label]: labelValue }, value);
    },
  });

  return {
    gauge: (name, help, read) => void new Gauge({ name, help, ...ofOne(read) }),
    counter: (name, help, read) => void new Counter({ name, help, ...ofOne(read) }),
    gaugeOfEach: (name, help, label, read) => void new Gauge({ name, help, ...ofEach(label, read) }),
    counterOfEach: (name, help, label, read) => void new Counter({ name, help, ...ofEach(label, read) }),
  };
}
