import type { ExchangeParams } from '../../domain/exchange-params.ts';
import { builder } from '../builder.ts';
import { objectsAt } from '../complexity.ts';
import { atArg } from './pool-pair.ts';

const ExchangeParamsRef = builder.objectRef<ExchangeParams>('ExchangeParams').implement({
  description: 'Parameters of the exchange, which the chain can change.',
  fields: (t) => ({
    defaultFeeRateBps: t.exposeInt('defaultFeeRateBps', {
      description:
        'Fee of a trade through a pool without a rate of its own, in hundredths of a percent. `PoolPair.feeRateBps` is the rate of a pool.',
    }),
    nativeFeeDiscountPercent: t.exposeInt('nativeFeeDiscountPercent', {
      description: 'By how many percent a fee that is paid in the native coin is lower.',
    }),
    maxOrdersPerNft: t.exposeInt('maxOrdersPerNft', {
      description: 'Number of open orders that one NFT can have in a pool. An NFT stands for the owner of orders.',
    }),
  }),
});

builder.queryField('exchangeParams', (t) =>
  t.field({
    type: ExchangeParamsRef,
    nullable: true,
    complexity: ({ at }) => objectsAt(1, at),
    description:
      'The parameters that the exchange of this response was computed with. The gateway reads them again once in EXCHANGE_PROBE_MS, a minute by default. Null in V1 and below the start of V3. Null with an error if the exchange state cannot be read.',
    args: atArg,
    resolve: (_root, { at }, { loaders }) => loaders.exchange.params(at),
  }),
);
