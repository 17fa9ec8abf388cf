/** The latencies of responses, as clients measure them. The clients share a process and a core with the simulated upstreams. */
export type Latencies = {
  /** Records a latency; `isFaultFree` if no upstream had a fault meanwhile. */
  record(kind: string, ms: number, isFaultFree: boolean): void;
  /** The quantiles of one kind of client. */
  of(kind: string): LatenciesOfKind;
};

/** The quantiles of all responses to one kind of client, and of those without a fault of an upstream. */
type LatenciesOfKind = { readonly all: Quantiles; readonly faultFree: Quantiles };

/** Quantiles in milliseconds; 0 if there was no response. */
export type Quantiles = { readonly p50: number; readonly p99: number; readonly max: number };

/** Creates an empty record. */
export function createLatencies(): Latencies {
  const byKind = new Map<string, { readonly all: number[]; readonly faultFree: number[] }>();
  return {
    record(kind, ms, isFaultFree) {
      const known = byKind.get(kind) ?? { all: [], faultFree: [] };
      byKind.set(kind, known);
      known.all.push(ms);
      if (isFaultFree) known.faultFree.push(ms);
    },
    of(kind) {
      const { all = [], faultFree = [] } = byKind.get(kind) ?? {};
      return { all: quantilesOf(all), faultFree: quantilesOf(faultFree) };
    },
  };
}

/** The median, the 99th percentile and the maximum. */
export function quantilesOf(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}
