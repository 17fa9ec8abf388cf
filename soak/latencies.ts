/** How long answers took, as their clients saw it. Their process plays the upstreams too, and is part of what they see. */
export type Latencies = {
  /** Notes one; `isWell` where nothing was wrong with any upstream meanwhile. */
  note(kind: string, ms: number, isWell: boolean): void;
  /** Those of one kind of client. */
  of(kind: string): LatenciesOfKind;
};

/** The quantiles of all answers to one kind of client, and of those that came while all was well. */
type LatenciesOfKind = { readonly all: Quantiles; readonly well: Quantiles };

/** In milliseconds; 0 where there was no answer. */
export type Quantiles = { readonly p50: number; readonly p99: number; readonly max: number };

/** Makes a record in which there is none. */
export function createLatencies(): Latencies {
  const notes = new Map<string, { readonly all: number[]; readonly well: number[] }>();
  return {
    note(kind, ms, isWell) {
      const known = notes.get(kind) ?? { all: [], well: [] };
      notes.set(kind, known);
      known.all.push(ms);
      if (isWell) known.well.push(ms);
    },
    of(kind) {
      const { all = [], well = [] } = notes.get(kind) ?? {};
      return { all: quantilesOf(all), well: quantilesOf(well) };
    },
  };
}

/** The value below which half and 99 in 100 lie, and the largest. */
export function quantilesOf(values: readonly number[]): Quantiles {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}
