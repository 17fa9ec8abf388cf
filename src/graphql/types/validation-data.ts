import type { ValidationData } from '../../domain/chain.ts';
import { builder } from '../builder.ts';

export const ValidationDataRef = builder.objectRef<ValidationData>('ValidationData').implement({
  description: 'The signatures over a block.',
  fields: (t) => ({
    producerBlsSig: t.exposeString('producerBlsSig', { description: "The producer's BLS signature, in base64." }),
    producerBriSig: t.exposeString('producerBriSig', {
      nullable: true,
      description: "The producer's bridge signature. Null when there is none.",
    }),
    validatorsIdx: t.exposeIntList('validatorsIdx', {
      description: 'Which validators of the committee signed, in ascending order; indexes may be skipped.',
    }),
    aggSig: t.exposeString('aggSig', { description: 'Their aggregated signature, in base64.' }),
    bridgeSig: t.exposeStringList('bridgeSig', {
      description: 'Their bridge signatures: one per entry of validatorsIdx, in the same order; an entry may be empty.',
    }),
  }),
});
