import { setImmediate as turn } from 'node:timers/promises';
import type { BlockTrades, PoolTrade } from '../../domain/trade.ts';
import { parseJson } from '../json.ts';
import { readArray, readObject, readString, readUint64, ShapeError } from '../wire.ts';

/** The types of instructions that change the pools of V3. All others are skipped. Their types can also be words. */
const TRADE = '285';
const CONTRIBUTION = '281';
const WITHDRAWAL = '283';

/** The second string of an accepted trade. */
const ACCEPTED = '1';

/** A node accepts no longer route. */
const MAX_STEPS = 5;

const POOL_ID = '[0-9a-f]{64}-[0-9a-f]{64}-[0-9a-f]{64}';
const IS_POOL_ID = new RegExp(`^${POOL_ID}$`);
const POOL_IDS = new RegExp(POOL_ID, 'g');

/** Amounts of a trade have 64 bits, and their sums a few more. */
const MAX_CHANGE = 2n ** 80n;

/** Work before the event loop is free for a moment: 500 trades through three pools take 5 to 10 ms. */
const SLICE_MS = 2;

/** Reads what the instructions of a block say about the pools. It never fails: an accepted trade that cannot be read makes it incomplete. */
export async function readBlockTrades(instructions: unknown): Promise<BlockTrades> {
  const trades: PoolTrade[] = [];
  const poolsWithLiquidityChanges = new Set<string>();
  let isComplete = true;
  let sliceEnd = performance.now() + SLICE_MS;
  for (const instruction of Array.isArray(instructions) ? instructions : []) {
    if (!Array.isArray(instruction)) continue;
    if (performance.now() > sliceEnd) {
      await turn();
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
      for (const text of instruction)
        for (const [poolId] of String(text).toLowerCase().matchAll(POOL_IDS)) poolsWithLiquidityChanges.add(poolId);
    }
  }
  return { trades: isComplete ? trades : [], isComplete, poolsWithLiquidityChanges };
}

/** Reads an accepted trade: one entry for each pool of its route. @throws SyntaxError, ShapeError */
function readTrade(transaction: unknown, text: unknown): PoolTrade[] {
  const content = readObject(readObject(parseJson(readString(text, '$')), '$')['Content'], '$.Content');
  const transactionId = readHash(transaction);
  const path = readArray(content['TradePath'], '$.Content.TradePath').map(readPoolId);
  const ofPools = readArray(content['PairChanges'], '$.Content.PairChanges');
  const ofOrders = readArray(content['OrderChanges'], '$.Content.OrderChanges');
  if (path.length === 0 || path.length > MAX_STEPS || ofPools.length !== path.length || ofOrders.length !== path.length)
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
      steps: path.length,
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

function readHash(value: unknown): string {
  const hash = readString(value, '$[3]').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new ShapeError('the hash of a transaction', '$[3]');
  return hash;
}

function readPoolId(value: unknown): string {
  const poolId = readString(value, '$.Content.TradePath[…]').toLowerCase();
  if (!IS_POOL_ID.test(poolId)) throw new ShapeError('a pool id', '$.Content.TradePath[…]');
  return poolId;
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
