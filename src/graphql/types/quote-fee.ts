import type { TradeFee } from '../../domain/trade-fee.ts';
import { builder } from '../builder.ts';

/** The fee of a quote. */
export const QuoteFeeRef = builder.objectRef<TradeFee>('QuoteFee').implement({
  description:
    'The least fee that the exchange accepts for a trade, on top of `sellAmount`. It is paid in the token that is sold or in the native coin, PRV. The trades of a block are executed by fee: whoever pays more for the amount comes first.',
  fields: (t) => ({
    rateBps: t.exposeInt('rateBps', {
      description: "Sum of the fee rates of the route's pools, in hundredths of a percent of `sellAmount`.",
    }),
    inSellToken: t.expose('inSellToken', {
      type: 'BigInt',
      description:
        'The fee if it is paid in the token that is sold, in smallest units, rounded up. For a trade that sells the native coin, the discount for the native coin is taken off. Along several pools, the exchange also swaps the parts of the later pools: a part that buys nothing refunds the trade.',
    }),
    inNativeToken: t.expose('inNativeToken', {
      type: 'BigInt',
      nullable: true,
      description:
        'The fee if it is paid in the native coin, in its smallest unit, rounded up: with the discount of the exchange, at the price of the most liquid pool of the two tokens that holds enough of the coin. Null if there is no such pool. The exchange then accepts no fee in the native coin.',
    }),
  }),
});
