import type { Block } from '../../src/sandbox/chain/block.ts';
import type { Chain } from '../../src/sandbox/chain/chain.ts';
import type { ShownBlocks } from '../shown-blocks.ts';
import type { TradingPool } from './exchange.ts';
import { listMismatch } from './market.ts';
import { ancestorOf, type ExpectedTrade, type TradeResult, tradesMismatch, tradesOfBlock } from './trades.ts';

/** The place of a trade on the chain. */
export type TradePlace = Pick<ExpectedTrade, 'height' | 'place'>;

/** The sum of what a pool traded in a window. */
export type Volume = {
  readonly token1: string;
  readonly token2: string;
  readonly trades: number;
  /** As a date. */
  readonly since: string;
  readonly isComplete: boolean;
};

/** The fields of a volume that are requested. */
export const VOLUME_FIELDS = 'token1 token2 trades since isComplete';

/** A page of the trades of a pool. */
export type TradePage = {
  readonly nodes: readonly TradeResult[];
  /** The maximum number of trades. */
  readonly first: number;
  readonly hasNextPage: boolean;
  /** The trades are below this place. */
  readonly after?: TradePlace | undefined;
};

/** The trades of a pool up to a block, newest first, with the blocks below it from which that descends. */
function* tradesDown(
  chain: Chain,
  block: Block,
  poolId: string,
): Generator<readonly [Block, readonly ExpectedTrade[]]> {
  for (let { height } = block; height >= chain.oldestHeight; height--) {
    const each = ancestorOf(chain, block, height);
    if (each === undefined) return;
    yield [each, tradesOfBlock(chain, each).filter((trade) => trade.poolId === poolId)];
  }
}

/**
 * Compares a page of trades with the chain below a block. A block that the gateway does not know has no trades in the page; any other
 * one has all of them.
 *
 * @param isKnown whether the gateway must know a block
 */
export function pageMismatch(
  shown: ShownBlocks,
  block: Block,
  pool: TradingPool,
  { nodes, first, hasNextPage, after }: TradePage,
  isKnown: (block: Block) => boolean,
): string | undefined {
  const { chain } = shown;
  const pools = new Map([[pool.id, pool]]);
  if (nodes.length > first) return `${nodes.length} trades on a page of ${first}`;
  if (hasNextPage && nodes.length < first) return `a page of ${nodes.length} that is not the last one`;
  let read = 0;
  const below = (trades: readonly ExpectedTrade[]) =>
    trades.filter(
      ({ poolId, height, place }) =>
        poolId === pool.id &&
        (after === undefined || height < after.height || (height === after.height && place < after.place)),
    );
  for (const [each] of tradesDown(chain, block, pool.id)) {
    const [next] = nodes.slice(read);
    const isEnd = read === first || (next === undefined && !isKnown(each));
    if (isEnd) break;
    const others = each === block ? [] : shown.finalOnBranches(each.height);
    const possible = [each, ...others].map((one) =>
      below(tradesOfBlock(chain, one))
        .reverse()
        .slice(0, first - read),
    );
    if (next?.beaconHeight !== each.height) {
      if (isKnown(each) && possible.every(({ length }) => length > 0))
        return `the trades of ${each.height} are missing`;
      continue;
    }
    const mismatches = possible.map((expected) =>
      expected.length === 0
        ? `no trades at ${each.height}`
        : tradesMismatch(nodes.slice(read, read + expected.length), expected, pools, `trades at ${each.height}`),
    );
    const found = mismatches.indexOf(undefined);
    if (found === -1) return `${originOf(shown, each, next)}: ${mismatches[0]}`;
    read += possible[found]?.length ?? 0;
  }
  if (read < nodes.length) return `trades[${read}] is not of the chain: ${JSON.stringify(nodes[read])}`;
  return undefined;
}

/** Which of the blocks of a height has a trade, by their versions: a version above 1,000,000 is of a branch. */
function originOf(shown: ShownBlocks, { version }: Block, { transactionId, beaconHeight }: TradeResult): string {
  const has = (block: Block) =>
    tradesOfBlock(shown.chain, block).some((trade) => trade.transactionId === transactionId);
  const found = shown
    .at(beaconHeight)
    .filter(has)
    .map((block) => block.version);
  return `trades of version ${found.join(' or ')} instead of ${version} of ${beaconHeight}`;
}

/** The volume of a pool in the hours up to a block, with all of its trades. */
function expectedVolume(chain: Chain, block: Block, pool: TradingPool, hours: number): Volume {
  return sumOf(tradesInWindow(chain, block, pool, hours), windowStart(block, hours));
}

/**
 * Compares a volume with the chain: it is exact if it is complete. If not, it contains no more than all trades since its start, and
 * it begins at a block of the window, or with the window.
 */
export function volumeMismatch(
  shown: ShownBlocks,
  block: Block,
  pool: TradingPool,
  hours: number,
  actual: Volume,
): string | undefined {
  const { chain } = shown;
  const start = windowStart(block, hours);
  if (hasBranches(shown, block, start + 1)) return undefined;
  const expected = expectedVolume(chain, block, pool, hours);
  if (actual.isComplete) return listMismatch([actual], [expected], 'volume');

  const since = Date.parse(actual.since) / 1_000;
  if (since < start || since > block.time) return `a volume since ${actual.since}, in ${hours} hours to ${block.time}`;
  const most = sumOf(
    tradesInWindow(chain, block, pool, hours).filter(({ time }) => time >= since),
    start,
  );
  const isMore =
    BigInt(actual.token1) > BigInt(most.token1) ||
    BigInt(actual.token2) > BigInt(most.token2) ||
    actual.trades > most.trades;
  return isMore
    ? `a volume of ${JSON.stringify(actual)}, though at most ${JSON.stringify(most)} was traded`
    : undefined;
}

/** Whether the gateway could take a block of a branch for final, in the blocks from a time up to a block: its sums can contain that. */
export function hasBranches(shown: ShownBlocks, block: Block, from: number): boolean {
  for (let { height } = block; ; height--) {
    const each = ancestorOf(shown.chain, block, height);
    if (each === undefined || each.time < from) return false;
    if (shown.finalOnBranches(height).length > 0) return true;
  }
}

/** Whether a block is in the window of the hours up to another one. */
export function isInWindow({ time }: Block, block: Block, hours: number): boolean {
  return time > windowStart(block, hours);
}

/** The trades of a pool in the hours up to a block, newest first. */
function tradesInWindow(chain: Chain, block: Block, pool: TradingPool, hours: number): readonly ExpectedTrade[] {
  return tradesSince(chain, block, pool, windowStart(block, hours) + 1);
}

/** The trades of a pool in the blocks up to a block that were made at a time or later, in Unix seconds. Newest first. */
export function tradesSince(chain: Chain, block: Block, pool: TradingPool, from: number): readonly ExpectedTrade[] {
  const found: ExpectedTrade[] = [];
  for (const [each, trades] of tradesDown(chain, block, pool.id)) {
    if (each.time < from) break;
    found.push(...trades.toReversed());
  }
  return found;
}

/** The sums of both tokens of trades, in smallest units. */
export function tradedBy(trades: readonly ExpectedTrade[]): readonly [string, string] {
  const sum = (side: 0 | 1) =>
    trades.reduce((total, { sells, paid, got }) => total + (sells === side ? paid : got), 0n);
  return [String(sum(0)), String(sum(1))];
}

/** The place of the last trade of a page; `undefined` for an empty page. */
export function placeOf(shown: ShownBlocks, trade: TradeResult | undefined): TradePlace | undefined {
  return shown
    .at(trade?.beaconHeight ?? 0)
    .flatMap((block) => tradesOfBlock(shown.chain, block))
    .find(({ transactionId, step }) => transactionId === trade?.transactionId && step === trade.step);
}

function sumOf(trades: readonly ExpectedTrade[], start: number): Volume {
  const [token1, token2] = tradedBy(trades);
  const since = new Date(start * 1_000).toISOString();
  return { token1, token2, trades: trades.length, since, isComplete: true };
}

/** Unix seconds. */
function windowStart({ time }: Block, hours: number): number {
  return time - hours * 3_600;
}
