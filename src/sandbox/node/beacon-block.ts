import type { Block } from '../chain/block.ts';
import { createRandom } from '../chain/random.ts';
import { instructionsOf } from '../exchange/instructions.ts';
import { epochOf } from './chain-info.ts';
import type { Committees } from './committees.ts';
import type { GoValue } from './go-json.ts';

/** The only element of the result of `retrievebeaconblockbyheight`. The hash of the next block is empty for the tip. */
export function beaconBlock(
  seed: number,
  { beacon }: Committees,
  block: Block,
  previous: Block | undefined,
  next: Block | undefined,
): GoValue {
  const { height, hash, time } = block;
  const random = createRandom(seed, 'block', hash);
  const instructions = instructionsOf(seed, block, block.exchange);
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
