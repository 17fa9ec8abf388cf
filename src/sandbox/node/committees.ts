import { createRandom, type Random } from '../chain/random.ts';
import { shardCount } from '../chain/shards.ts';

/** The keys of one validator, as the beacon's state shows them, and the long one that stands in the blocks it makes. */
export type Validator = {
  readonly publicKey: string;
  readonly bls: string;
  readonly dsa: string;
  readonly blockKey: string;
};

/** The validators of a chain, which stay the same for as long as the chain lasts. */
export type Committees = { readonly beacon: readonly Validator[]; readonly shards: readonly (readonly Validator[])[] };

/** The validators of the chain of a seed. */
export function committeesOf(seed: number): Committees {
  const random = createRandom(seed, 'committees');
  const committee = (size: number) => Array.from({ length: size }, () => validatorFrom(random));
  return { beacon: committee(4), shards: Array.from({ length: shardCount }, () => committee(4 + random.below(3))) };
}

function validatorFrom(random: Random): Validator {
  return {
    publicKey: `1${random.base58(49)}`,
    bls: `1${random.base58(174)}`,
    dsa: `1${random.base58(50)}`,
    blockKey: `121VhftSAygpEJZ6i9jGk${random.base58(411)}`,
  };
}
