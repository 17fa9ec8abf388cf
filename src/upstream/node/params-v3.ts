import type { ExchangeParams } from '../../domain/exchange-params.ts';
import { readIntegerUpTo, readObject, readUint64, type WireObject } from '../wire.ts';

/** All of a payment: 100 %, in hundredths of a percent. */
const MAX_BPS = 10_000;

/** A discount of 100 % has no least fee. */
const MAX_DISCOUNT_PERCENT = 99;

const MAX_INT32 = 2 ** 31 - 1;

const PARAMS = '$.Result.Params';

/** Reads the parameters in a response of `pdexv3_getState`. @throws ShapeError */
export function readParams(result: WireObject): ExchangeParams {
  const params = readObject(result['Params'], PARAMS);
  const upTo = (max: number, name: string) => readIntegerUpTo(max, params[name], `${PARAMS}.${name}`);
  // An empty map can be null.
  const rates = params['FeeRateBPS'] === null ? {} : readObject(params['FeeRateBPS'], `${PARAMS}.FeeRateBPS`);
  return {
    defaultFeeRateBps: upTo(MAX_BPS, 'DefaultFeeRateBPS'),
    feeRatesBps: new Map(
      Object.entries(rates).map(([poolId, rate]) => [
        poolId.toLowerCase(),
        readIntegerUpTo(MAX_BPS, rate, `${PARAMS}.FeeRateBPS[…]`),
      ]),
    ),
    nativeFeeDiscountPercent: upTo(MAX_DISCOUNT_PERCENT, 'PRVDiscountPercent'),
    maxOrdersPerNft: upTo(MAX_INT32, 'MaxOrdersPerNft'),
    minNativeReserve: readUint64(params['MinPRVReserveTradingRate'], `${PARAMS}.MinPRVReserveTradingRate`),
  };
}
