import type { Block } from '../chain/block.ts';
import { createRandom } from '../chain/random.ts';
import { type Shard, shardHash } from '../chain/shards.ts';
import { BLOCKS_PER_EPOCH, epochOf } from './chain-info.ts';
import type { Committees, Validator } from './committees.ts';
import type { GoValue } from './go-json.ts';

/** The earlier blocks that a beacon state refers to, if the chain still has them. */
type BlocksBelow = {
  readonly previous: Block | undefined;
  /** The first block of the epoch. */
  readonly epochStart: Block | undefined;
};

/** The result of `getbeaconbeststatedetail`: tens of kilobytes. */
export function beaconState(seed: number, committees: Committees, tip: Block, below: BlocksBelow): GoValue {
  const everyone = [...committees.beacon, ...committees.shards.flat()];
  const ofShards = (value: (shard: Shard, id: number) => GoValue) =>
    new Map(tip.shards.map((shard, id) => [String(id), value(shard, id)]));

  return {
    BestBlockHash: tip.hash,
    PreviousBestBlockHash: below.previous?.hash ?? '0'.repeat(64),
    BestShardHash: ofShards((shard, id) => shardHash(seed, id, shard)),
    BestShardHeight: ofShards(({ height }) => height),
    Epoch: epochOf(tip.height),
    BeaconHeight: tip.height,
    BeaconProposerIndex: tip.height % committees.beacon.length,
    BeaconCommittee: committees.beacon.map(keysOf),
    BeaconPendingValidator: [],
    CandidateShardWaitingForCurrentRandom: [],
    CandidateBeaconWaitingForCurrentRandom: [],
    CandidateShardWaitingForNextRandom: [],
    CandidateBeaconWaitingForNextRandom: [],
    RewardReceiver: new Map(),
    ShardCommittee: ofShards((_, id) => (committees.shards[id] ?? []).map(keysOf)),
    ShardPendingValidator: ofShards(() => []),
    AutoStaking: everyone.map((validator) => ({ ...keysOf(validator), IsAutoStake: false })),
    CurrentRandomNumber: randomNumber(seed, epochOf(tip.height)),
    CurrentRandomTimeStamp: below.epochStart?.time ?? tip.time,
    IsGetRandomNumber: tip.height % BLOCKS_PER_EPOCH > BLOCKS_PER_EPOCH / 2,
    MaxBeaconCommitteeSize: 4,
    MinBeaconCommitteeSize: 4,
    MaxShardCommitteeSize: 32,
    MinShardCommitteeSize: 4,
    ActiveShards: tip.shards.length,
    LastCrossShardState: ofShards((from, id) => crossings(tip.shards, from, id)),
    ShardHandle: null,
  };
}

function keysOf({ publicKey, bls, dsa }: Validator) {
  return { IncPubKey: publicKey, MiningPubKey: { bls, dsa } };
}

// Between 2^61 and 2^62: more than a double can represent exactly.
function randomNumber(seed: number, epoch: number): bigint {
  return 2n ** 61n + BigInt(`0x${createRandom(seed, 'random number', epoch).hex(15)}`) * 2n + 1n;
}

function crossings(shards: readonly Shard[], from: Shard, id: number): GoValue {
  const others = shards.map((_, other) => other).filter((other) => other !== id);
  return new Map(others.map((other) => [String(other), from.height - ((from.height + other * 13) % 997)]));
}
