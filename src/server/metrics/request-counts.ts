import type { Metric, MetricValueWithName, Registry } from 'prom-client';

/** Counts the requests of one door. */
export type RequestCount = {
  /** A request was answered with a status; a stream of events has no time that means anything. */
  answered(status: number, seconds: number | undefined): void;
};

/** What the requests of all doors are counted with. */
export type RequestCounts = {
  /** The count of that door, which is made when it is first asked for. */
  of(door: string): RequestCount;
};

/** How the counts are told: the name and the meaning of each metric. */
export type RequestMetrics = {
  readonly requests: { readonly name: string; readonly help: string };
  readonly seconds: { readonly name: string; readonly help: string; readonly buckets: readonly number[] };
};

type Counted = {
  readonly statuses: Map<number, number>;
  /** How many answers took as long as each bucket allows, and longer than the one before. */
  readonly buckets: number[];
  timed: number;
  sum: number;
};

/**
 * Makes the counts and tells a registry of them.
 *
 * They are plain numbers until someone reads them: the library's own counters look labels up each time, which takes longer
 * than all else that a request for a kept answer does here.
 */
export function createRequestCounts({ requests, seconds }: RequestMetrics, registry: Registry): RequestCounts {
  const doors = new Map<string, Counted>();

  register(registry, { ...requests, type: 'counter' }, () =>
    [...doors].flatMap(([door, { statuses }]) =>
      [...statuses].map(([status, value]) => ({ labels: { door, status }, value })),
    ),
  );
  register(registry, { ...seconds, type: 'histogram' }, () =>
    [...doors].flatMap(([door, counted]) => toHistogram(seconds.name, seconds.buckets, door, counted)),
  );

  function count(door: string): Counted {
    const counted = doors.get(door) ?? { statuses: new Map(), buckets: seconds.buckets.map(() => 0), timed: 0, sum: 0 };
    doors.set(door, counted);
    return counted;
  }

  return {
    of(door) {
      const counted = count(door);
      return {
        answered(status, took) {
          counted.statuses.set(status, (counted.statuses.get(status) ?? 0) + 1);
          if (took === undefined) return;
          counted.timed += 1;
          counted.sum += took;
          let place = 0;
          while (took > (seconds.buckets[place] ?? Number.POSITIVE_INFINITY)) place += 1;
          if (place < seconds.buckets.length) counted.buckets[place] = (counted.buckets[place] ?? 0) + 1;
        },
      };
    },
  };
}

function toHistogram(
  name: string,
  bounds: readonly number[],
  door: string,
  counted: Counted,
): MetricValueWithName<string>[] {
  if (counted.timed === 0) return [];
  let below = 0;
  const buckets = bounds.map((le, place) => {
    below += counted.buckets[place] ?? 0;
    return { metricName: `${name}_bucket`, labels: { le, door }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_bucket`, labels: { le: '+Inf', door }, value: counted.timed },
    { metricName: `${name}_sum`, labels: { door }, value: counted.sum },
    { metricName: `${name}_count`, labels: { door }, value: counted.timed },
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
