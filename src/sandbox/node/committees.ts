import { createRandom, type Random } from '../chain/random.ts';
import { SHARD_COUNT } from '../chain/shards.ts';

/** The keys of a validator in the beacon state, and the longer key in the blocks that it produces. */
export type Validator = {
  readonly publicKey: string;
  readonly bls: string;
  readonly dsa: string;
  readonly blockKey: string;
};

/** The validators of the beacon and of each shard. They never change. */
export type Committees = { readonly beacon: readonly Validator[]; readonly shards: readonly (readonly Validator[])[] };

/** The validators of a chain with this seed. */
export function committeesOf(seed: number): Committees {
  const random = createRandom(seed, 'committees');
  const committee = (size: number) => Array.from({ length: size }, () => validatorFrom(random));
  return { beacon: committee(4), shards: Array.from({ length: SHARD_COUNT }, () => committee(4 + random.below(3))) };
}

function validatorFrom(random: Random): Validator {
  return {
    publicKey: `1${random.base58(49)}`,
    bls: `1${random.base58(174)}`,
    dsa: `1${random.base58(50)}`,
    blockKey: `121VhftSAygpEJZ6i9jGk${random.base58(411)}`,
  };
}
