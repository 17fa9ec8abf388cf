import { setTimeout as sleep } from 'node:timers/promises';
import type { GatewayProcess } from './gateway-process.ts';

/** How the gateway's process did at one moment, or since the moment before. */
export type Sample = {
  /** Since the start. */
  readonly seconds: number;
  /** In megabytes, after garbage was collected. */
  readonly heapMb: number;
  readonly rssMb: number;
  /** Of what is resident: what V8's heap takes, free pages among it, and what buffers hold. */
  readonly heapTotalMb: number;
  readonly buffersMb: number;
  /** Of the event loop, in milliseconds, since the sample before. */
  readonly lagMs: { readonly p50: number; readonly p99: number; readonly max: number };
  /** Of one core, since the sample before: 1 is all of it. */
  readonly cpu: number;
};

/** Takes samples of a process. */
type Figures = {
  readonly samples: readonly Sample[];
  take(): Promise<void>;
};

const MB = 2 ** 20;

/** Starts to take samples. */
export function createFigures(gateway: GatewayProcess): Figures {
  const start = performance.now();
  const samples: Sample[] = [];
  let cpuBefore = 0;
  let secondsBefore = 0;

  return {
    samples,
    async take() {
      // The lag is told first, and once more after the collection: its pause belongs to the soak, not to the gateway.
      const metrics = await gateway.metrics();
      const { heapUsed, heapTotal, external, rss } = await gateway.memory();
      await sleep(100);
      await gateway.metrics();

      const seconds = (performance.now() - start) / 1_000;
      const cpu = metrics.sum('process_cpu_seconds_total');
      const lagOf = (name: string) => metrics.sum(`nodejs_eventloop_lag_${name}_seconds`) * 1_000;
      samples.push({
        seconds,
        heapMb: heapUsed / MB,
        rssMb: rss / MB,
        heapTotalMb: heapTotal / MB,
        buffersMb: external / MB,
        lagMs: { p50: lagOf('p50'), p99: lagOf('p99'), max: lagOf('max') },
        cpu: (cpu - cpuBefore) / (seconds - secondsBefore),
      });
      cpuBefore = cpu;
      secondsBefore = seconds;
    },
  };
}

/** A straight line through samples: how much it rises in an hour, and how far that can be off, two standard errors. */
type Slope = { readonly perHour: number; readonly uncertainty: number };

/** Fits a line by least squares. `undefined` for fewer than 10 points, through which any line would do. */
export function slopeOf(points: readonly { readonly seconds: number; readonly value: number }[]): Slope | undefined {
  if (points.length < 10) return undefined;

  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanX = mean(points.map(({ seconds }) => seconds));
  const meanY = mean(points.map(({ value }) => value));
  const spread = points.reduce((sum, { seconds }) => sum + (seconds - meanX) ** 2, 0);
  const slope = points.reduce((sum, { seconds, value }) => sum + (seconds - meanX) * (value - meanY), 0) / spread;
  const errors = points.map(({ seconds, value }) => (value - meanY - slope * (seconds - meanX)) ** 2);
  const deviation = Math.sqrt(errors.reduce((sum, error) => sum + error, 0) / (points.length - 2) / spread);
  return { perHour: slope * 3_600, uncertainty: 2 * deviation * 3_600 };
}

/** What memory did: where it was at first and last, how it rose in the second half, and what to think of that. */
export type MemoryVerdict = {
  readonly startMb: number;
  readonly endMb: number;
  readonly slope: Slope | undefined;
  readonly verdict: 'does not grow' | 'LEAKS' | 'not judged: the run is too short';
};

/** The first half warms up: code is compiled, caches fill. A second half of less than this tells nothing of a slope. */
const JUDGED_FROM_SECONDS = 240;

/** What may be growth by chance, or for a good reason such as a longer chain. In megabytes an hour. */
const GROWTH_ALLOWED = { heapMb: 15, rssMb: 60 } as const;

/** Judges the samples of one kind of memory, by the slope of their second half. */
export function judgeMemory(samples: readonly Sample[], kind: 'heapMb' | 'rssMb'): MemoryVerdict {
  const end = samples.at(-1)?.seconds ?? 0;
  const half = samples.filter(({ seconds }) => seconds >= end / 2);
  const slope = slopeOf(half.map((sample) => ({ seconds: sample.seconds, value: sample[kind] })));
  const told = { startMb: samples[0]?.[kind] ?? 0, endMb: samples.at(-1)?.[kind] ?? 0, slope };

  if (slope === undefined || end / 2 < JUDGED_FROM_SECONDS) {
    return { ...told, verdict: 'not judged: the run is too short' };
  }
  return { ...told, verdict: slope.perHour - slope.uncertainty > GROWTH_ALLOWED[kind] ? 'LEAKS' : 'does not grow' };
}
