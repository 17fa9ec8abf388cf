import type { Block } from '../chain/block.ts';
import { createRandom } from '../chain/random.ts';
import { epochOf } from './chain-info.ts';
import type { Committees } from './committees.ts';
import type { GoValue } from './go-json.ts';

/** The blocks below and above a block, as far as the node has them, and its instructions. */
type Surroundings = {
  readonly previous: Block | undefined;
  readonly next: Block | undefined;
  readonly instructions: readonly (readonly string[])[];
};

/** The only element of the result of `retrievebeaconblockbyheight`. The hash of the next block is empty for the tip. */
export function beaconBlock(
  seed: number,
  { beacon }: Committees,
  block: Block,
  { previous, next, instructions }: Surroundings,
): GoValue {
  const { height, hash, time } = block;
  const random = createRandom(seed, 'block', hash);
  return {
    Hash: hash,
    Height: height,
    BlockProducer: beacon[height % beacon.length]?.blockKey ?? '',
    ValidationData: JSON.stringify({ ProducerBLSSig: random.base64(65), ValidatiorsIdx: [0, 1, 2, 3] }),
    ConsensusType: 'bls',
    Version: 8,
    Epoch: epochOf(height),
    Round: 1,
    Time: time,
    PreviousBlockHash: previous?.hash ?? '0'.repeat(64),
    NextBlockHash: next?.hash ?? '',
    Instructions: instructions,
    Size: JSON.stringify(instructions).length,
    ShardStates: {},
    ProposeTime: time,
    RootHash: { InstructionMerkleRoot: random.hex(64) },
    FinalityHeight: height - 2,
  };
}
