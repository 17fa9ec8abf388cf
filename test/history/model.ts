import type { CandleInterval, PoolCandle } from '../../src/domain/candle.ts';
import type { ExchangeVersion } from '../../src/domain/pool-pair.ts';
import type { PoolWindow, Reserves } from '../../src/domain/reserves.ts';
import type { FinalBlock } from '../../src/history/store.ts';

/** The lengths of intervals, and which of them are kept for 90 days. */
const MINUTES: Readonly<Record<CandleInterval, number>> = {
  ONE_MINUTE: 1,
  FIVE_MINUTES: 5,
  FIFTEEN_MINUTES: 15,
  ONE_HOUR: 60,
  FOUR_HOURS: 240,
  ONE_DAY: 1440,
};
const DAY = 86_400_000;

type State = readonly [bigint, bigint];
type Block = {
  readonly height: number;
  readonly hash: string | undefined;
  readonly time: number;
  readonly version: ExchangeVersion;
  readonly pools: ReadonlyMap<string, State>;
};
type CandleOptions = { readonly from?: number; readonly to?: number; readonly upTo: number; readonly last: number };

/**
 * A history that keeps every state, and computes each answer from all of them. The stores are compared with it. It shares no
 * code with them. To the pools of one version, the blocks of the other one are like blocks that are not recorded.
 */
export function createModel(rawDays: number) {
  const blocks = new Map<number, Block>();
  let deletedBefore = 0;
  let shortDeletedBefore = 0;

  const all = (version?: ExchangeVersion) =>
    [...blocks.values()]
      .filter((block) => version === undefined || block.version === version)
      .sort((a, b) => a.height - b.height);
  /** Of the deleted heights, the newest one stays. */
  const kept = (version?: ExchangeVersion) => {
    const older = all(version).filter((block) => block.time < deletedBefore);
    return all(version).filter((block) => block.time >= deletedBefore || block === older.at(-1));
  };
  /** The blocks whose states can be read: of the deleted heights, the newest one of each version stays. */
  const readable = () => all().filter((block) => kept(block.version).includes(block));
  const floor = (height: number, version?: ExchangeVersion) =>
    (version === undefined ? readable() : kept(version)).findLast((block) => block.height <= height);
  const newest = (version: ExchangeVersion) => all(version).at(-1)?.height ?? 0;
  const has = (version: ExchangeVersion, height: number) => blocks.get(height)?.version === version;

  function traded(id: string, heights: readonly Block[]): [bigint, bigint] {
    const sum: [bigint, bigint] = [0n, 0n];
    for (const block of heights) {
      const before = all(block.version)
        .findLast(({ height }) => height < block.height)
        ?.pools.get(id);
      const after = block.pools.get(id);
      if (before === undefined || after === undefined) continue;
      const change1 = after[0] - before[0];
      const change2 = after[1] - before[1];
      if ((change1 > 0n && change2 < 0n) || (change1 < 0n && change2 > 0n)) {
        sum[0] += change1 < 0n ? -change1 : change1;
        sum[1] += change2 < 0n ? -change2 : change2;
      }
    }
    return sum;
  }

  function summary(id: string, heights: readonly Block[], counted: readonly Block[]) {
    const states = heights.flatMap((block): Reserves[] => {
      const state = block.pools.get(id);
      return state ? [{ beaconHeight: block.height, reserve1: state[0], reserve2: state[1] }] : [];
    });
    const [open] = states;
    const close = states.at(-1);
    if (open === undefined || close === undefined) return undefined;
    const priced = states.filter(({ reserve1, reserve2 }) => reserve1 !== 0n && reserve2 !== 0n);
    const ratio = (a: Reserves, b: Reserves) => a.reserve1 * b.reserve2 - b.reserve1 * a.reserve2;
    const best = (isBetter: (difference: bigint) => boolean) =>
      priced.reduce((found, state) => (isBetter(ratio(state, found)) ? state : found), priced[0] ?? open);
    const [traded1, traded2] = traded(id, counted);
    return { open, high: best((d) => d > 0n), low: best((d) => d < 0n), close, traded1, traded2 };
  }

  return {
    record({ hash, time, version, exchange }: FinalBlock): void {
      if (time < deletedBefore || blocks.has(exchange.beaconHeight)) return;
      const pools = exchange.directory.ids.map(
        (id, place) => [id, [exchange.reserves[place * 2] ?? 0n, exchange.reserves[place * 2 + 1] ?? 0n]] as const,
      );
      blocks.set(exchange.beaconHeight, { height: exchange.beaconHeight, hash, time, version, pools: new Map(pools) });
    },
    deleteFrom(height: number): void {
      for (const each of [...blocks.keys()]) if (each >= height) blocks.delete(each);
    },
    prune(now: number): void {
      const before = Math.floor(now / DAY - rawDays) * DAY;
      if (all().some((block) => block.time < before)) deletedBefore = Math.max(deletedBefore, before);
      shortDeletedBefore = Math.max(shortDeletedBefore, Math.floor(now / DAY - Math.max(90, rawDays)) * DAY);
    },
    coverage(gaps: number) {
      const [first, last] = [kept()[0], kept().at(-1)];
      if (first === undefined || last === undefined) return undefined;
      const missing: { from: number; to: number }[] = [];
      for (const [index, { height }] of kept().entries()) {
        const next = kept()[index + 1]?.height ?? height + 1;
        if (next > height + 1) missing.unshift({ from: height + 1, to: next - 1 });
      }
      return { first: named(first), last: named(last), heights: kept().length, gaps: missing.slice(0, gaps) };
    },
    blockAt(time: number, version?: ExchangeVersion) {
      const counted = readable().filter((block) => version === undefined || block.version === version);
      const block = counted.findLast((other) => other.time <= time);
      if (block === undefined) return undefined;
      const next = counted.find(({ height }) => height > block.height);
      return { block: named(block), next: next && named(next) };
    },
    firstBlock(version: ExchangeVersion) {
      const [first] = kept(version);
      return first && named(first);
    },
    lastHeight: (version: ExchangeVersion) => all(version).at(-1)?.height,
    recentBlocks(upTo: number, last: number) {
      const counted = readable().filter(({ height }) => height <= upTo);
      return counted.slice(Math.max(0, counted.length - last)).map(named);
    },
    stateAt(height: number) {
      const block = floor(height);
      return block && { height: block.height, time: block.time, pools: new Map([...block.pools].sort()) };
    },
    reservesAt(id: string, heights: readonly number[]): (Reserves | undefined)[] | undefined {
      if (!all().some((block) => block.pools.has(id))) return undefined;
      return heights.map((height) => {
        const block = floor(height, versionOf(id));
        const state = block?.pools.get(id);
        return block && state && { beaconHeight: block.height, reserve1: state[0], reserve2: state[1] };
      });
    },
    window(id: string, fromHeight: number, toHeight: number): PoolWindow | undefined {
      const version = versionOf(id);
      const from = floor(fromHeight, version) ?? kept(version)[0];
      const to = floor(toHeight, version);
      if (from === undefined || to === undefined) return undefined;
      const heights = kept(version).filter(({ height }) => height >= from.height && height <= to.height);
      const found = summary(id, heights, heights.slice(1));
      const end = Math.min(toHeight, newest(version));
      let isComplete = from.height <= fromHeight;
      for (let height = from.height; height <= end; height++) isComplete &&= has(version, height);
      return found && { ...found, isComplete };
    },
    candles(id: string, interval: CandleInterval, { from = 0, to = 1e15, upTo, last }: CandleOptions): PoolCandle[] {
      const length = MINUTES[interval] * 60_000;
      const version = versionOf(id);
      const groups = Map.groupBy(all(version), ({ time }) => Math.floor(time / length) * length);
      const canCut = (floor(upTo, version)?.time ?? -1) >= deletedBefore;
      const candles: PoolCandle[] = [];
      for (const [openTime, group] of groups) {
        if (openTime < from || openTime >= to) continue;
        if (length < 3_600_000 && openTime < shortDeletedBefore) continue;
        const heights = group.filter(({ height }) => height <= upTo);
        if (heights.length < group.length && !canCut) continue;
        const found = summary(id, heights, heights);
        const [firstHeight, lastHeight] = [heights[0]?.height ?? 0, heights.at(-1)?.height ?? 0];
        if (found === undefined) continue;
        const isComplete =
          heights.length === lastHeight - firstHeight + 1 &&
          (firstHeight === 1 || has(version, firstHeight - 1)) &&
          (lastHeight === upTo || lastHeight === newest(version) || has(version, lastHeight + 1));
        candles.push({ openTime, ...found, firstHeight, lastHeight, heights: heights.length, isComplete });
      }
      return candles.slice(-last);
    },
  };
}

function named({ height, hash, time }: Block) {
  return { beaconHeight: height, hash, time };
}

/** V3 has a third part in its pool ids. */
function versionOf(id: string): ExchangeVersion {
  return id.split('-').length === 3 ? 'V3' : 'V1';
}
