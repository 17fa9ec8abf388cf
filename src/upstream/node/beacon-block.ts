import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BeaconHeight } from '../../domain/beacon-height.ts';
import { type Instant, toInstant } from '../../domain/instant.ts';
import { MAX_HOPS_V3 } from '../../domain/route-search.ts';
import type { BlockTrades, PoolTrade } from '../../domain/trade.ts';
import { createDocumentReader, parseJson } from '../json.ts';
import { createFilteredReader } from '../json-filter.ts';
import type { ResponseReader } from '../response-body.ts';
import { readArray, readInteger, readObject, readString, readUint64, ShapeError } from '../wire.ts';
import type { ResultOf } from './envelope.ts';

/** A block of the beacon chain. */
export type BeaconBlock = {
  readonly height: BeaconHeight;
  readonly hash: string;
  readonly time: Instant | undefined;
  /** Reads the trades that it records. */
  readonly trades: () => Promise<BlockTrades>;
};

/** What is kept of a beacon state: three values, and the names of its other members. */
const MAX_TIP_BYTES = 8 * 2 ** 20;

/** A block has some 12 KB, and about 1 KB for each trade. */
const MAX_BLOCK_BYTES = 8 * 2 ** 20;

/**
 * Reads a response of `retrievebeaconblockbyheight`: a list with one block. Most of it are instructions, which are JSON in strings: the
 * exact numbers of `parseJson` are needed only in those.
 *
 * @param received gets the number of bytes of each part that arrives
 */
export function createBeaconBlockReader(
  resultOf: (document: unknown) => unknown,
  received?: (bytes: number) => void,
): ResponseReader<BeaconBlock> {
  const { write, end } = createDocumentReader(MAX_BLOCK_BYTES, read, JSON.parse);

  function read(document: unknown): BeaconBlock {
    const [first] = readArray(resultOf(document), '$.Result');
    const block = readObject(first, '$.Result[0]');
    const { Time: time, Instructions: listed } = block;
    // The node writes null for an empty list. Anything else in its place says nothing about the trades.
    const instructions = listed === null ? [] : readArray(listed, '$.Result[0].Instructions');
    return {
      height: readInteger(block['Height'], '$.Result[0].Height'),
      hash: readString(block['Hash'], '$.Result[0].Hash'),
      time: Number.isSafeInteger(time) ? toInstant(Number(time)) : undefined,
      trades: () => readBlockTrades(instructions),
    };
  }

  return {
    write(chunk) {
      received?.(chunk.length);
      write(chunk);
    },
    end,
  };
}

/**
 * Creates the reader of the newest block, with its hash and that of the block below it: nodes may leave the hashes out. Only these
 * three members of the large response of `getbeaconbeststatedetail` are kept.
 */
export function createBeaconTipReader(resultOf: ResultOf) {
  const keep = ['BeaconHeight', 'BestBlockHash', 'PreviousBestBlockHash'];
  return createFilteredReader({ within: 'Result', keep, maxBytes: MAX_TIP_BYTES }, (document) => {
    const result = resultOf(document);
    return {
      height: readInteger(result['BeaconHeight'], '$.Result.BeaconHeight'),
      hash: toText(result['BestBlockHash']),
      previousHash: toText(result['PreviousBestBlockHash']),
    };
  });
}

/** A text that the interface does not promise; `undefined` for anything else. */
function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The types of instructions that change the pools of V3. All others are skipped. Their types can also be words. */
const TRADE = '285';
const CONTRIBUTION = '281';
const WITHDRAWAL = '283';

/** The second string of an accepted trade. */
const ACCEPTED = '1';

const POOL_ID = '[0-9a-f]{64}-[0-9a-f]{64}-[0-9a-f]{64}';
const IS_POOL_ID = new RegExp(`^${POOL_ID}$`);
const POOL_IDS = new RegExp(POOL_ID, 'g');

/** Amounts of a trade have 64 bits, and their sums a few more. */
const MAX_CHANGE = 2n ** 80n;

/** Work before the event loop is free for a moment: 500 trades through three pools take 5 to 10 ms. */
const SLICE_MS = 2;

/** Reads what instructions say about the pools. It never fails: an accepted trade that cannot be read makes the result incomplete. */
export async function readBlockTrades(instructions: readonly unknown[]): Promise<BlockTrades> {
  const trades: PoolTrade[] = [];
  const poolsWithLiquidityChanges = new Set<string>();
  let isComplete = true;
  let sliceEnd = performance.now() + SLICE_MS;
  for (const instruction of instructions) {
    if (!Array.isArray(instruction)) continue;
    if (performance.now() > sliceEnd) {
      await nextTurn();
      sliceEnd = performance.now() + SLICE_MS;
    }
    const [type, status, , transactionId, content] = instruction;
    if (type === TRADE && status === ACCEPTED) {
      try {
        trades.push(...readTrade(transactionId, content));
      } catch {
        isComplete = false;
      }
    } else if (type === CONTRIBUTION || type === WITHDRAWAL) {
      for (const text of instruction.filter((part) => typeof part === 'string'))
        for (const [poolId] of text.toLowerCase().matchAll(POOL_IDS)) poolsWithLiquidityChanges.add(poolId);
    }
  }
  return { trades: isComplete ? trades : [], isComplete, poolsWithLiquidityChanges };
}

/** Reads an accepted trade: one entry for each pool of its route. @throws SyntaxError, ShapeError */
function readTrade(transaction: unknown, text: unknown): PoolTrade[] {
  const content = readObject(readObject(parseJson(readString(text, '$')), '$')['Content'], '$.Content');
  const transactionId = readForm(/^[0-9a-f]{64}$/, 'the hash of a transaction', transaction, '$[3]');
  const path = readArray(content['TradePath'], '$.Content.TradePath').map((id) =>
    readForm(IS_POOL_ID, 'a pool id', id, '$.Content.TradePath[…]'),
  );
  const ofPools = readArray(content['PairChanges'], '$.Content.PairChanges');
  const ofOrders = readArray(content['OrderChanges'], '$.Content.OrderChanges');
  const { length } = path;
  if (length === 0 || length > MAX_HOPS_V3 || ofPools.length !== length || ofOrders.length !== length)
    throw new ShapeError('the changes of one to five pools', '$.Content');

  const trades = path.map((poolId, step): PoolTrade => {
    const pool = readChange(ofPools[step]);
    const orders = sumOf(Object.values(readObject(ofOrders[step], '$.Content.OrderChanges[…]')).map(readChange));
    const [total1, total2] = sumOf([pool, orders]);
    const sells = total1 > 0n && total2 < 0n ? 1 : total1 < 0n && total2 > 0n ? 2 : undefined;
    if (sells === undefined) throw new ShapeError('one token in and the other one out', '$.Content.PairChanges[…]');
    const [paid, got, toOrders, fromOrders] =
      sells === 1 ? [total1, total2, orders[0], orders[1]] : [total2, total1, orders[1], orders[0]];
    if (toOrders < 0n || fromOrders > 0n) throw new ShapeError('orders that take and give', '$.Content.OrderChanges');
    return {
      poolId,
      transactionId,
      step,
      steps: length,
      sells,
      sellAmount: paid,
      buyAmount: -got,
      sellAmountToOrders: toOrders,
      buyAmountFromOrders: -fromOrders,
    };
  });
  if (trades.at(-1)?.buyAmount !== readUint64(content['Amount'], '$.Content.Amount'))
    throw new ShapeError('the amount that the last pool gives', '$.Content.Amount');
  return trades;
}

/** Reads a text in lower case. @throws ShapeError unless it has that form */
function readForm(form: RegExp, expected: string, value: unknown, path: string): string {
  const text = readString(value, path).toLowerCase();
  if (!form.test(text)) throw new ShapeError(expected, path);
  return text;
}

/** The changes of the amounts of both tokens of a pool. */
type Change = readonly [bigint, bigint];

function readChange(value: unknown): Change {
  const change = readArray(value, '$.Content.…Changes[…]').map(readSigned);
  const [change1, change2] = change;
  if (change1 === undefined || change2 === undefined || change.length > 2)
    throw new ShapeError('two numbers', '$.Content.…Changes[…]');
  return [change1, change2];
}

function readSigned(value: unknown): bigint {
  const isInteger = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value));
  const change = isInteger ? BigInt(value) : MAX_CHANGE;
  if (change >= MAX_CHANGE || change <= -MAX_CHANGE) throw new ShapeError('an integer', '$.Content.…Changes[…]');
  return change;
}

function sumOf(changes: readonly Change[]): Change {
  return changes.reduce<Change>((sum, each) => [sum[0] + each[0], sum[1] + each[1]], [0n, 0n]);
}
