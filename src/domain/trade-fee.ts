import { type ExchangeState, feeRateBps } from './exchange.ts';
import { divideUp } from './swap.ts';
import { NATIVE_TOKEN_ID, type TokenId } from './token.ts';

/** The least fee of a trade that the exchange accepts, in smallest units: it is paid in one of two tokens, on top of the trade. */
export type TradeFee = {
  /** The sum of the rates of the pools, in hundredths of a percent. */
  readonly rateBps: number;
  readonly inSellToken: bigint;
  /** `undefined` if no pool gives a rate for the native coin. */
  readonly inNativeToken: bigint | undefined;
};

/**
 * The least fee of a trade along the pools at those places; `undefined` for a state of V1, where the trader offers any fee.
 *
 * A fee in the native coin is lower. That of a trade that sells the native coin is always paid in it.
 */
export function tradeFee(
  state: ExchangeState,
  places: readonly number[],
  sellTokenId: TokenId,
  sellAmount: bigint,
): TradeFee | undefined {
  const { directory, v3 } = state;
  if (v3 === undefined) return undefined;
  const rateBps = places.reduce((sum, place) => sum + feeRateBps(v3.params, directory.ids[place] ?? ''), 0);
  const fee = divideUp(sellAmount * BigInt(rateBps), 10_000n);
  const percent = BigInt(100 - v3.params.nativeFeeDiscountPercent);

  if (sellTokenId === NATIVE_TOKEN_ID) {
    const discounted = divideUp(fee * percent, 100n);
    return { rateBps, inSellToken: discounted, inNativeToken: discounted };
  }
  const rate = nativeRateOf(state, sellTokenId);
  const inNativeToken = rate && divideUp(fee * rate.native * percent, rate.token * 100n);
  return { rateBps, inSellToken: fee, inNativeToken };
}

/** The amounts of a pool by whose price a fee is converted to the native coin. */
type NativeRate = { readonly token: bigint; readonly native: bigint };

/**
 * The rate of a token: that of its most liquid pool with the native coin, without amplification, among those that hold enough of the
 * coin. Of equally liquid ones it is the one with the most of the token for the coin. `undefined` if there is none.
 */
export function nativeRateOf({ directory, reserves, v3 }: ExchangeState, tokenId: TokenId): NativeRate | undefined {
  const { token1Ids, token2Ids, placesOfToken } = directory;
  let best: (NativeRate & { readonly liquidity: bigint }) | undefined;
  for (const place of placesOfToken.get(tokenId) ?? []) {
    const side = token1Ids[place] === NATIVE_TOKEN_ID ? 0 : 1;
    if (side === 1 && token2Ids[place] !== NATIVE_TOKEN_ID) continue;
    const [native, token] = [reserves[place * 2 + side], reserves[place * 2 + 1 - side]];
    const amplifier = BigInt(v3?.amplifiers[place] ?? 0);
    if (!native || !token || amplifier === 0n) continue;
    if (native * 10_000n < (v3?.params.minNativeReserve ?? 0n) * amplifier) continue;
    const liquidity = (((token * native * 10_000n) / amplifier) * 10_000n) / amplifier;
    const isBetter =
      best === undefined ||
      liquidity > best.liquidity ||
      (liquidity === best.liquidity && token * best.native > best.token * native);
    if (isBetter && liquidity > 0n) best = { token, native, liquidity };
  }
  return best;
}
