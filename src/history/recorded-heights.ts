import type { Coverage, HistoryStore, RecordedHeight } from './store.ts';
import type { TradeCoverage } from './trade-store.ts';

/** What is recorded, as it was when the database was last looked at. */
export type RecordedHeights = {
  /** Looks at what is recorded, by this gateway or by another one of the database. @throws HistoryDatabaseError */
  look(): Promise<void>;
  /** The same for trades alone. */
  lookAtTrades(): Promise<void>;
  /** `undefined` if nothing is recorded, or it is not known. */
  coverage(): Coverage | undefined;
  /** Changes each time something has been recorded, or a branch was deleted. */
  version(): number;
  /** Changes as `version`, but not for heights above all others. */
  fills(): number;
  /** Whether `fills` has changed with the last look. */
  isBeingFilled(): boolean;
  /** Of which blocks the trades are recorded; `undefined` if of none, or it is not known. */
  tradeCoverage(): TradeCoverage | undefined;
  /** Changes each time the trades of blocks have been recorded or deleted. */
  tradesVersion(): number;
  /** Calls a function each time when a height above all others has been recorded. */
  onRecorded(listener: () => void): void;
};

/** The gaps that show whether a missing height was recorded. */
const GAPS_COMPARED = 8;

/** Starts without a look. */
export function createRecordedHeights(
  store: Pick<HistoryStore, 'coverage' | 'recentBlocks' | 'tradeCoverage'>,
): RecordedHeights {
  const listeners: (() => void)[] = [];
  let coverage: Coverage | undefined;
  let version = 0;
  let fills = 0;
  let isBeingFilled = false;
  let tradeCoverage: TradeCoverage | undefined;
  let tradesVersion = 0;

  async function isRecorded({ beaconHeight, hash, time }: RecordedHeight): Promise<boolean> {
    const [last] = await store.recentBlocks({ upTo: beaconHeight, last: 1 });
    return last?.beaconHeight === beaconHeight && last.hash === hash && last.time === time;
  }

  async function lookAtTrades(): Promise<void> {
    const after = await store.tradeCoverage();
    if (JSON.stringify(after) !== JSON.stringify(tradeCoverage)) tradesVersion += 1;
    tradeCoverage = after;
  }

  return {
    async look() {
      await lookAtTrades();
      const before = coverage;
      const after = await store.coverage(GAPS_COMPARED);
      // A branch may have been deleted.
      const isReplaced = before !== undefined && !(await isRecorded(before.last));
      coverage = after;
      const isHigher = (after?.last.beaconHeight ?? 0) > (before?.last.beaconHeight ?? 0);
      isBeingFilled = isReplaced || hasFilled(before, after);
      if (isBeingFilled) fills += 1;
      if (isHigher || isBeingFilled) version += 1;
      if (isHigher) for (const listener of listeners) listener();
    },
    lookAtTrades,
    coverage: () => coverage,
    version: () => version,
    fills: () => fills,
    isBeingFilled: () => isBeingFilled,
    tradeCoverage: () => tradeCoverage,
    tradesVersion: () => tradesVersion,
    onRecorded: (listener) => void listeners.push(listener),
  };
}

/** Whether heights below the highest one were recorded between two looks: heights above it change no gap. */
function hasFilled(before: Coverage | undefined, after: Coverage | undefined): boolean {
  if (before === undefined || after === undefined) return false;
  const missing = ({ first, last, heights, gaps }: Coverage) =>
    JSON.stringify([first.beaconHeight, last.beaconHeight - first.beaconHeight + 1 - heights, gaps]);
  return missing(before) !== missing(after);
}
