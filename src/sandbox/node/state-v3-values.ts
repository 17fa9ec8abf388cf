import { createRandom } from '../chain/random.ts';
import type { GenesisPool } from '../v3/genesis.ts';
import { paramsAt } from '../v3/params.ts';
import type { Order, PoolState } from '../v3/pool.ts';
import type { GoValue } from './go-json.ts';

const ZEROS = '0'.repeat(64);

/** What stands for the state in a response without it. */
export const NO_STATE: GoValue = {
  Token0ID: ZEROS,
  Token1ID: ZEROS,
  Token0RealAmount: 0,
  Token1RealAmount: 0,
  Token0VirtualAmount: null,
  Token1VirtualAmount: null,
  Amplifier: 0,
  ShareAmount: 0,
};

/** The state of a pool: its amounts and its shares. */
export function stateOf({ tokens, amplifier }: GenesisPool, { real, virtual, shares }: PoolState): GoValue {
  // Some shares of pools of one amplifier are locked for liquidity mining.
  const lockedShares = amplifier === 15_000 ? shares / 10n : 0n;
  return {
    Token0ID: tokens[0],
    Token1ID: tokens[1],
    Token0RealAmount: real[0],
    Token1RealAmount: real[1],
    Token0VirtualAmount: virtual[0],
    Token1VirtualAmount: virtual[1],
    Amplifier: amplifier,
    ShareAmount: shares,
    ...(lockedShares === 0n ? {} : { LmLockedShareAmount: lockedShares }),
  };
}

/** An open order. */
export function orderOf({ id, nft, rates, balances, sells, receivers }: Order): GoValue {
  return {
    Id: id,
    NftID: nft,
    Token0Rate: rates[0],
    Token1Rate: rates[1],
    Token0Balance: balances[0],
    Token1Balance: balances[1],
    TradeDirection: sells,
    Receiver: receivers,
  };
}

/** The shares of a pool. One provider has all. */
export function sharesOf(seed: number, { id, tokens }: GenesisPool, { shares }: PoolState): GoValue {
  const fees = new Map(tokens.map((token): [string, GoValue] => [token, 469_687]));
  const share = { Amount: shares, TradingFees: fees, LastLPFeesPerShare: fees };
  return new Map([[createRandom(seed, 'provider', id).hex(64), share]]);
}

/** What stands for the fees in a response without them, as text. */
export const NO_MAPS = ['LpFeesPerShare', 'ProtocolFees', 'StakingPoolFees', 'OrderRewards', 'MakingVolume'].map(
  (name): readonly [string, string] => [name, 'null'],
);

/** The fees of a pool; null each in a response without them. */
export function feesOf({ tokens }: GenesisPool, { fees }: { readonly fees?: boolean }): Record<string, GoValue> {
  if (!fees) return Object.fromEntries(NO_MAPS.map(([name]) => [name, null]));
  const each = (value: GoValue) => new Map(tokens.map((token): [string, GoValue] => [token, value]));
  return {
    LpFeesPerShare: each(97_970_370_381_316_110n),
    ProtocolFees: {},
    StakingPoolFees: each(0),
    OrderRewards: {},
    MakingVolume: {},
  };
}

/** The parameters of the exchange at a height. */
export function paramsOf(height: number, ids: readonly string[]): GoValue {
  const params = paramsAt(height, ids);
  return {
    DefaultFeeRateBPS: params.defaultFeeRateBps,
    FeeRateBPS: params.feeRateBps,
    PRVDiscountPercent: params.prvDiscountPercent,
    TradingProtocolFeePercent: 0,
    TradingStakingPoolRewardPercent: 10,
    PDEXRewardPoolPairsShare: {},
    StakingPoolsShare: {},
    StakingRewardTokens: null,
    MintNftRequireAmount: 100,
    MaxOrdersPerNft: params.maxOrdersPerNft,
    AutoWithdrawOrderLimitAmount: params.closedOrdersPerShard,
    MinPRVReserveTradingRate: params.minPrvReserve,
    DefaultOrderTradingRewardRatioBPS: 2_500,
    OrderTradingRewardRatioBPS: {},
    OrderLiquidityMiningBPS: {},
    DAOContributingPercent: 50,
    MiningRewardPendingBlocks: 350,
    OrderMiningRewardRatioBPS: {},
  };
}
