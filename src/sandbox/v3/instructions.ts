import { createRandom } from '../chain/random.ts';
import { printExactly } from '../http/exact-json.ts';
import type { V3Block, V3Event } from './block.ts';
import { changesParams } from './params.ts';
import type { Amounts } from './pool.ts';
import { type AcceptedTrade, NATIVE_TOKEN, type RefusedTrade } from './trades.ts';

/** Types of instructions. */
const TRADE = '285';
const NEW_ORDER = '287';
const WITHDRAWN_ORDER = '289';
const CONTRIBUTION = '281';
const LIQUIDITY_OUT = '283';
const PARAMETERS = '280';

const ACCEPTED = '1';
const REFUSED = '0';
const SHARDS = 8;

/** The instructions of a block: what it did to the exchange, between instructions about other things. */
export function instructionsOf(
  seed: number,
  { height, version }: { readonly height: number; readonly version: number },
  v3: V3Block | undefined,
): readonly (readonly string[])[] {
  const addressOf = (about: string) => `15${createRandom(seed, 'receiver', about).base58(142)}`;
  const others = [
    ['133', '-1', 'portalRewardInst', JSON.stringify({ BeaconHeight: height, Rewards: {} })],
    ...Array.from({ length: SHARDS }, (_, shard) => [
      'acceptblockrewardv3',
      `${shard}`,
      '0',
      '{}',
      `${height + shard * 211}`,
    ]),
    ['stake', `key-${height % 7}`, 'beacon', createRandom(seed, 'stake', height, version).hex(64), '', 'true'],
    [
      '293',
      'accepted',
      JSON.stringify({ NftID: createRandom(seed, 'nft', height, version).hex(64), BurntAmount: 100 }),
    ],
  ];
  const parameters = changesParams(height)
    ? [
        [
          PARAMETERS,
          '0',
          'accepted',
          JSON.stringify({ Content: {}, TxReqID: createRandom(seed, 'parameters', height, version).hex(64) }),
        ],
      ]
    : [];
  const events = v3?.events ?? [];
  return [...others, ...events.flatMap((event) => instructionsOfEvent(event, addressOf)), ...(v3 ? parameters : [])];
}

/** The instructions of a block, with the last accepted trade truncated. If the block has none, nothing changes. */
export function withDamagedTrade(instructions: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const damaged = instructions.findLast(([type, status]) => type === TRADE && status === ACCEPTED);
  const cut = (text: string) => text.slice(0, text.length / 2);
  return instructions.map((each) => (each === damaged ? each.map((text, i) => (i === 4 ? cut(text) : text)) : each));
}

type AddressOf = (about: string) => string;

function instructionsOfEvent(event: V3Event, addressOf: AddressOf): readonly (readonly string[])[] {
  switch (event.kind) {
    case 'trade':
      return 'because' in event.trade ? refused(event.trade, addressOf) : [accepted(event.trade, addressOf)];
    case 'order': {
      const { id, nft, rates, balances, sells, receivers } = event.order;
      const content = {
        PoolPairID: event.pool.id,
        OrderID: id,
        NftID: nft,
        Token0Rate: rates[0],
        Token1Rate: rates[1],
        Token0Balance: balances[0],
        Token1Balance: balances[1],
        TradeDirection: sells,
        Receiver: receivers,
      };
      return [[NEW_ORDER, ACCEPTED, shardOf(id), id, contentOf(content)]];
    }
    case 'withdrawal': {
      const { pool, order, side } = event;
      const content = {
        PoolPairID: pool.id,
        OrderID: order.id,
        TokenID: pool.tokens[side],
        Receiver: order.receivers[side],
        Amount: order.balances[side],
      };
      return [[WITHDRAWN_ORDER, ACCEPTED, shardOf(order.id), order.id, contentOf(content)]];
    }
    case 'liquidity': {
      const { pool, id, amounts } = event;
      const isAdded = amounts[0] >= 0n;
      return pool.tokens.map((token, side) => {
        const amount = amounts[side === 0 ? 0 : 1];
        const content = {
          PoolPairID: pool.id,
          TokenID: token,
          Amount: isAdded ? amount : -amount,
          TxReqID: id,
          ShardID: Number(shardOf(id)),
        };
        return isAdded
          ? [CONTRIBUTION, 'matched', printExactly(content)]
          : [LIQUIDITY_OUT, 'accepted', printExactly(content)];
      });
    }
  }
}

function accepted(
  { request, buyToken, buyAmount, pairChanges, rewards, orderChanges }: AcceptedTrade,
  addressOf: AddressOf,
) {
  const content = {
    Receiver: addressOf(request.id),
    Amount: buyAmount,
    TradePath: request.path,
    TokenToBuy: buyToken,
    PairChanges: pairChanges,
    RewardEarned: rewards.map(([token, amount]) => ({ [token]: amount })),
    OrderChanges: orderChanges.map(sorted),
  };
  return [TRADE, ACCEPTED, shardOf(request.id), request.id, contentOf(content)];
}

/** What was paid comes back: the amount with the fee, or each by itself if they are of two tokens. */
function refused({ request }: RefusedTrade, addressOf: AddressOf): readonly (readonly string[])[] {
  const { id, sellToken, sellAmount, fee, isFeeInNativeToken } = request;
  const isFeeApart = isFeeInNativeToken && sellToken !== NATIVE_TOKEN;
  const refunds: (readonly [string, bigint])[] = isFeeApart
    ? [
        [sellToken, sellAmount],
        [NATIVE_TOKEN, fee],
      ]
    : [[sellToken, sellAmount + fee]];
  return refunds.map(([TokenToSell, Amount]) => [
    TRADE,
    REFUSED,
    shardOf(id),
    id,
    contentOf({ Receiver: addressOf(id), TokenToSell, Amount }),
  ]);
}

function contentOf(content: object): string {
  return printExactly({ Content: content });
}

function sorted(changes: ReadonlyMap<string, Amounts>): Record<string, Amounts> {
  return Object.fromEntries([...changes].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function shardOf(transaction: string): string {
  return String(Number.parseInt(transaction.slice(0, 1), 16) % SHARDS);
}
