import type { ValidationData } from '../../domain/chain.ts';
import { builder } from '../builder.ts';

export const ValidationDataRef = builder.objectRef<ValidationData>('ValidationData').implement({
  description: 'Signatures over a block.',
  fields: (t) => ({
    producerBlsSig: t.exposeString('producerBlsSig', { description: 'BLS signature of the producer, in base64.' }),
    producerBriSig: t.exposeString('producerBriSig', {
      nullable: true,
      description: 'Bridge signature of the producer. Null if the block has none.',
    }),
    validatorsIdx: t.exposeIntList('validatorsIdx', {
      description:
        'Indexes of the validators in the committee that signed, ascending. Validators that did not sign are missing.',
    }),
    aggSig: t.exposeString('aggSig', { description: 'Aggregated signature of these validators, in base64.' }),
    bridgeSig: t.exposeStringList('bridgeSig', {
      description: 'Bridge signatures of these validators, in the order of `validatorsIdx`. An entry can be empty.',
    }),
  }),
});
