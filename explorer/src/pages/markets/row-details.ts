import { useMemo, useState } from 'react';
import { useFollow, useGatewayQuery } from '../../client/hooks.ts';
import { useIsVisible } from '../../client/visibility.ts';
import { isOfTokens, priceOfBase } from '../../format/prices.ts';
import type { MarketRow } from './market-rows.ts';
import {
  type DayStartFragment,
  type PricedPoolFragment,
  PricesInViewDocument,
  RowsInViewDocument,
  type RowsInViewQuery,
} from './row-details.generated.ts';

/** What is read of a row when it comes into view. */
export type RowDetails = {
  readonly pool: PricedPoolFragment | null;
  readonly lastPrice: number | null;
  /** Undefined until the history was read. */
  readonly day: DayStartFragment | null | undefined;
  readonly sparkline: readonly (number | null)[] | null | undefined;
};

type RowsInView = {
  readonly details: ReadonlyMap<string, RowDetails>;
  /** The newest height of the prices. */
  readonly height: number | undefined;
};

/** The change and the chart of a day move slowly. The price is live. */
const REFRESH_MS = 30_000;

type DetailsOptions = {
  readonly isScrolling: boolean;
  readonly withHistory: boolean;
  /** Whether prices are shown in US dollars. */
  readonly withUsd: boolean;
};

/** Reads what the rows in view show, in one request, and follows their prices with one subscription. */
export function useRowDetails(
  rows: readonly MarketRow[],
  { isScrolling, withHistory, withUsd }: DetailsOptions,
): RowsInView {
  const wanted = useMemo(() => JSON.stringify(wantedOf(rows)), [rows]);
  const [settled, setSettled] = useState(wanted);
  // Rows that the reader scrolls past are not read.
  if (!isScrolling && settled !== wanted) setSettled(wanted);

  const { ids, pools } = useMemo(() => JSON.parse(settled) as Wanted, [settled]);
  const answer = useGatewayQuery(
    RowsInViewDocument,
    useMemo(() => ({ ids, withHistory, withUsd }), [ids, withHistory, withUsd]),
    { refresh: REFRESH_MS, pause: ids.length === 0 },
  );

  const [height, setHeight] = useState<number>();
  const isVisible = useIsVisible();
  useFollow(
    PricesInViewDocument,
    { pools, withUsd },
    { pause: pools.length === 0 || !isVisible, onUpdate: ({ prices }) => setHeight(prices.beaconHeight) },
  );

  const [{ seen, details }, setDetails] = useState<{ seen: RowsInViewQuery | undefined; details: Details }>(NOTHING);
  if (answer.data !== undefined && answer.data !== seen)
    setDetails({ seen: answer.data, details: merge(details, answer.data) });
  return { details, height: Math.max(height ?? 0, answer.height ?? 0) || undefined };
}

type Details = ReadonlyMap<string, RowDetails>;
const NOTHING = { seen: undefined, details: new Map<string, RowDetails>() };

type Wanted = {
  readonly ids: readonly string[];
  readonly pools: readonly { readonly token1Id: string; readonly token2Id: string; readonly poolId?: string }[];
};

function wantedOf(rows: readonly MarketRow[]): Wanted {
  const pools = new Map(
    rows.flatMap(({ nodeId, nodePoolId, base, target }) => {
      const tokens = { token1Id: base.tokenId, token2Id: target.tokenId };
      return nodeId === undefined
        ? []
        : [[nodeId, nodePoolId === undefined ? tokens : { ...tokens, poolId: nodePoolId }] as const];
    }),
  );
  return {
    ids: rows.flatMap(({ pair, nodeId }) => (pair === undefined ? (nodeId ?? []) : `Pair:${pair.poolId}`)),
    pools: [...pools.values()],
  };
}

/**
 * What was known of all rows, with what is new. If nothing is read of the day, what is known stays: a field that has failed is null,
 * and the cache does not know later that it has failed. Equal details stay the same object, so that their rows are not
 * drawn again.
 */
export function merge(known: Details, { nodes }: RowsInViewQuery): Details {
  const merged = new Map(known);
  function add(key: string, read: RowDetails): void {
    const before = known.get(key);
    const next = { ...read, day: newest(read.day, before?.day), sparkline: newest(read.sparkline, before?.sparkline) };
    const isSame =
      before !== undefined &&
      before.pool === next.pool &&
      before.lastPrice === next.lastPrice &&
      before.day === next.day &&
      before.sparkline === next.sparkline;
    if (!isSame) merged.set(key, next);
  }
  for (const node of nodes) {
    if (node === null) continue;
    if ('poolId' in node) {
      const { poolId, poolPair, ticker, change, sparkline } = node;
      add(poolId, { pool: poolPair, lastPrice: ticker?.lastPrice ?? null, day: change, sparkline });
    } else if (isPool(node)) {
      const { id, change, sparkline } = node;
      add(id.replace('PoolPair:', ''), { pool: node, lastPrice: null, day: change, sparkline });
    }
  }
  return merged;
}

/** What was read, unless it is nothing and something was known before. */
function newest<Value>(read: Value, before: Value): Value {
  return read == null && before !== undefined ? before : read;
}

type ReadNode = NonNullable<RowsInViewQuery['nodes'][number]>;

function isPool(node: ReadNode): node is Extract<ReadNode, PricedPoolFragment> {
  return 'beaconHeight' in node;
}

/** The pool of a row, unless it is one of other tokens. */
function poolOf({ base, target }: MarketRow, { pool }: RowDetails): PricedPoolFragment | null {
  return pool !== null && isOfTokens(pool, base.tokenId, target.tokenId) ? pool : null;
}

/** The newest price of a row: of the list, or of what was read since. */
export function livePrice(row: MarketRow, details: RowDetails | undefined): number | null {
  if (details === undefined) return row.price;
  const pool = poolOf(row, details);
  const { lastPrice } = details;
  if (pool === null) return lastPrice ?? row.price;
  return pool.beaconHeight < row.height ? row.price : (priceOfBase(pool, row.base.tokenId) ?? lastPrice ?? row.price);
}

/** What one target token of a row is worth in US dollars, as new as the price. */
export function liveTargetUsd(row: MarketRow, details: RowDetails | undefined): number | null {
  const pool = details && poolOf(row, details);
  if (pool == null || pool.beaconHeight < row.height) return row.targetUsd;
  const { usdPrice } = pool.token1.tokenId === row.target.tokenId ? pool.token1 : pool.token2;
  return usdPrice === undefined ? row.targetUsd : usdPrice;
}
