import { UpstreamTimeoutError } from '../../errors.ts';
import type { Head } from './head.ts';
import type { Nodes, NodeTip } from './nodes.ts';
import { TIPS_UNTIL_UNITED } from './shown-blocks.ts';

/** Number of further polls that must all show another block at the head's height before it replaces the head. */
const POLLS_AGAIN = 3;

/**
 * Polls the tips of the nodes. Behind a load balancer a node can show two blocks of one height in turn, for as long as its
 * nodes differ. The head stays while its block is still shown: otherwise it would change with every poll.
 *
 * @returns the nodes that responded; the head's own node with the head's block until that block is surely replaced
 * @throws UpstreamError if none responded
 */
export async function pollTips(nodes: Pick<Nodes, 'poll'>, head: Head | undefined): Promise<readonly NodeTip[]> {
  if (head === undefined) return nodes.poll();
  const { source, beaconHeight, hash, chainInfo } = head;
  const isUncertain = () => source.shown.blockAt(beaconHeight) === 'uncertain';
  let tips = await nodes.poll(source);
  for (let polls = 0; polls < POLLS_AGAIN && isReplaced(head, tips) && !isUncertain(); polls++)
    tips = await nodes.poll(source);
  const isSure = !isReplaced(head, tips) || !isUncertain() || source.shown.tipsSince(hash) >= TIPS_UNTIL_UNITED;
  return isSure ? tips : tips.map((each) => (each.node === source ? { node: source, tip: chainInfo } : each));
}

/** Whether the head's own node shows another block at the head's height. */
function isReplaced({ source, beaconHeight, hash }: Head, tips: readonly NodeTip[]): boolean {
  const own = tips.find(({ node }) => node === source)?.tip.beacon;
  return own !== undefined && own.height === beaconHeight && own.hash !== hash;
}

/** Chooses the nodes from which the next head is read. */
type NodeChoice = {
  /** The nodes that show another block than the head, in the order in which they are read. */
  candidates(tips: readonly NodeTip[], head: Head | undefined): readonly NodeTip[];
  /**
   * The head to keep if there are no candidates.
   *
   * @throws why there is none: every node that shows another block failed to give it
   */
  keep(tips: readonly NodeTip[], head: Head | undefined): Head;
};

/** Creates the choice. If only paused nodes show a new block, the others have half of the timeout to show it too. */
export function createNodeChoice(timeoutMs: number): NodeChoice {
  let waitingSince: number | undefined;

  return {
    candidates(tips, head) {
      const ahead = tips.filter((each) => hasMoved(head, each, tips));
      const well = ahead.filter(({ node }) => node.newBlocks.isWell());
      const failed = ahead.filter(({ node }) => !node.newBlocks.isWell());
      const retried = failed.filter(({ node }) => !node.newBlocks.isPaused());
      if (well.length > 0) return [...well, ...retried];

      const canWait = failed.length > 0 && tips.some(({ node }) => node.newBlocks.isWell());
      waitingSince = canWait ? (waitingSince ?? performance.now()) : undefined;
      const isOver = waitingSince !== undefined && performance.now() - waitingSince > timeoutMs / 2;
      if (canWait) return isOver ? retried : [];
      // If there is no other node, one that was only slower than another is read at once.
      return failed.filter(({ node: { newBlocks } }) => !newBlocks.isPaused() || newBlocks.lastError() === undefined);
    },
    keep(tips, head) {
      const best = tips.find((each) => hasMoved(head, each, tips));
      const isCurrent = best === undefined || tips.some(({ node }) => node.newBlocks.isWell());
      if (head !== undefined && isCurrent) return head;
      throw best === undefined ? new UpstreamTimeoutError('NODE', timeoutMs, {}) : best.node.newBlocks.lastError();
    },
  };
}

/** Whether a node shows another block than the head's. A lower tip is only a node that lags. */
function hasMoved(head: Head | undefined, { node, tip: { beacon } }: NodeTip, tips: readonly NodeTip[]): boolean {
  if (head === undefined) return true;
  if (beacon.height !== head.beaconHeight) return beacon.height > head.beaconHeight;
  if (beacon.hash === head.hash) return false;
  // Two nodes can show two blocks at one height for a while. The head's own node decides for as long as it responds.
  const own = tips.find((each) => each.node === head.source);
  return own === undefined || own.node === node || own.tip.beacon.height < head.beaconHeight;
}
