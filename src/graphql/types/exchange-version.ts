import type { ExchangeVersion } from '../../domain/pool-pair.ts';
import { builder } from '../builder.ts';

/** A version of the exchange. */
export const ExchangeVersionEnum = builder.enumType('ExchangeVersion', {
  description: 'A version of the exchange. Pools of two versions have nothing to do with each other.',
  values: {
    V1: {
      value: 'V1' satisfies ExchangeVersion,
      description: 'Pools of `getpdestate`: one of two tokens. On the main network, they no longer trade.',
    },
    V3: {
      value: 'V3' satisfies ExchangeVersion,
      description: 'Pools of `pdexv3_getState`: any number of two tokens, amplified, with orders.',
    },
  } as const,
});
