import type { ExchangeParams } from '../../domain/exchange.ts';
import { builder } from '../builder.ts';
import { IS_HEIGHT } from '../complexity.ts';

/** A version of the exchange. */
export const ExchangeVersionEnum = builder.enumType('ExchangeVersion', {
  description: 'A version of the exchange. Pools of two versions have nothing to do with each other.',
  values: {
    V1: { description: 'Pools of `getpdestate`: one of two tokens. On the main network, they no longer trade.' },
    V3: { description: 'Pools of `pdexv3_getState`: any number of two tokens, amplified, with orders.' },
  } as const,
});

/** The argument `at` of a field that can read an earlier height. */
export const atArg = builder.args((t) => ({
  at: t.field({
    type: 'BeaconHeight',
    description: 'Beacon height to read instead of the current one. A future or pruned height is HEIGHT_NOT_AVAILABLE.',
    extensions: IS_HEIGHT,
  }),
}));

/** The argument `version` of a field that reads pools. */
export const versionArg = builder.args((t) => ({
  version: t.field({
    type: ExchangeVersionEnum,
    description:
      'Version of the exchange. By default, the one that traded at the height: V1 below the start of V3. Pools of V1 are read when a client requests them, once for each height.',
  }),
}));

const ExchangeParamsRef = builder.objectRef<ExchangeParams>('ExchangeParams').implement({
  description: 'Parameters of the exchange, which the chain can change.',
  fieldDescriptions: {
    defaultFeeRateBps:
      'Fee of a trade through a pool without a rate of its own, in hundredths of a percent. `PoolPair.feeRateBps` is the rate of a pool.',
    nativeFeeDiscountPercent: 'By how many percent a fee that is paid in the native coin is lower.',
    maxOrdersPerNft: 'Number of open orders that one NFT can have in a pool. An NFT stands for the owner of orders.',
  },
  fields: (t) => t.exposeAll('Int', 'defaultFeeRateBps', 'nativeFeeDiscountPercent', 'maxOrdersPerNft'),
});

builder.queryField('exchangeParams', (t) =>
  t.field({
    type: ExchangeParamsRef,
    nullable: true,
    description:
      'The parameters that the exchange of this response was computed with. The gateway reads them with each block. Null in V1 and below the start of V3. Null with an error if the exchange state cannot be read.',
    args: atArg,
    resolve: (_root, { at }, { loaders }) => loaders.exchange.params(at),
  }),
);
