import { type BeaconHeight, isFinal } from '../../domain/beacon-height.ts';
import type { Head } from './head.ts';
import type { Node } from './node.ts';
import type { ShownBlock } from './node-record.ts';
import type { Nodes } from './nodes.ts';

/** What names a state: its height if it is final, else also the head under which it can be replaced. */
export function nameOfState(height: BeaconHeight, { beaconHeight, hash }: Head): string {
  return isFinal(height, beaconHeight) ? `${height}` : `${height} under ${beaconHeight} ${hash}`;
}

/** The nodes that have the chain of the head up to a height. A block above it may still be replaced. */
export function nodesOfChain(nodes: Pick<Nodes, 'sharingBlock'>, height: BeaconHeight, head: Head): readonly Node[] {
  const isShared = isFinal(height, head.beaconHeight)
    ? (block: ShownBlock) => isFinal(height, block.height)
    : (block: ShownBlock) => block.hash === head.hash;
  return nodes.sharingBlock(head.source, isShared);
}
