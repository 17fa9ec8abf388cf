import { type BeaconHeight, isFinal } from '../../domain/beacon-height.ts';
import { type ChainInfo, UNKNOWN_HASH } from '../../domain/chain.ts';
import type { ExchangeState } from '../../domain/exchange.ts';
import type { Instant } from '../../domain/instant.ts';
import type { Node } from './node.ts';

/** What names a block: two blocks of one height have different hashes. */
type Block = Pick<Head, 'beaconHeight' | 'hash'>;

/** Whether two heads are of the same block. */
export function isSameBlock(a: Block, b: Block): boolean {
  return a.beaconHeight === b.beaconHeight && a.hash === b.hash;
}

/** Whether a block is higher than another one, or replaces it at the same height. A block whose hash is not known replaces none. */
export function isAhead(block: Block, than: Block): boolean {
  if (block.beaconHeight !== than.beaconHeight) return block.beaconHeight > than.beaconHeight;
  return block.hash !== UNKNOWN_HASH && block.hash !== than.hash;
}

/** What names a state: its height if it is final, else also the head under which it can be replaced. */
export function nameOfState(height: BeaconHeight, { beaconHeight, hash }: Head): string {
  return isFinal(height, beaconHeight) ? `${height}` : `${height} under ${beaconHeight} ${hash}`;
}

/** The newest beacon height as it was read from one node. It is published at once and never changes. */
export type Head = {
  readonly beaconHeight: BeaconHeight;
  /** The height that was published before; the same if the node replaced the block. `undefined` for the first head. */
  readonly previousHeight: BeaconHeight | undefined;
  /** The hash of the block, or `UNKNOWN_HASH` (`domain/chain.ts`). */
  readonly hash: string;
  /** The hash of the block below it; `undefined` if the node does not report it, or only for another block. */
  readonly previousHash?: string | undefined;
  /** When the block was made. */
  readonly time: Instant;
  readonly chainInfo: ChainInfo;
  readonly exchange: ExchangeState;
  /** The node that all of it was read from. */
  readonly source: Node;
  /** Whether another gateway of the fleet has read it from a node that this one does not have: then `source` is another node. */
  readonly isOfOtherNode?: boolean | undefined;
  /** When it had been read completely. */
  readonly observedAt: Instant;
  /**
   * The heads since the previous one that were not published by themselves, ascending. A gateway of a fleet has received them
   * together with this one. Or nobody had followed these heights: their states were read from a node afterwards, their hashes
   * are not known, and their chain info is that of this head.
   */
  readonly filledIn?: readonly Head[] | undefined;
  /** The trace context of the poll that read it, if that is traced. */
  readonly traceparent?: string | undefined;
};
