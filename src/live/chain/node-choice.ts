import type { Head } from './head.ts';
import { isGivenUp, isPaused, isSplit, isWell } from './node-record.ts';
import type { Nodes, NodeTip } from './nodes.ts';

/** Number of further polls at once when the head's own node shows another block at the head's height. */
const POLLS_AGAIN = 3;

/**
 * Polls the tips of the nodes. Behind a load balancer a node can show two blocks of one height in turn, for as long as its
 * nodes differ. The head stays while its block is still shown: otherwise it would change with every poll.
 *
 * @returns the nodes that responded; the head's own node with the head's block until that block is surely given up
 * @throws UpstreamError if none responded
 */
export async function pollTips(nodes: Pick<Nodes, 'poll'>, head: Head | undefined): Promise<readonly NodeTip[]> {
  if (head === undefined) return nodes.poll();
  const { source, beaconHeight, chainInfo } = head;
  let tips = await nodes.poll(source);
  for (let polls = 0; polls < POLLS_AGAIN && isDoubtful(head, tips); polls++) {
    if (isSplit(source.record(), beaconHeight)) break;
    tips = await nodes.poll(source);
  }
  if (!isDoubtful(head, tips)) return tips;
  return tips.map((each) => (each.node === source ? { node: source, tip: chainInfo } : each));
}

/** Whether the head's own node shows another block at the head's height, and may show the head's block again. */
function isDoubtful({ source, beaconHeight: height, hash, isOfOtherNode }: Head, tips: readonly NodeTip[]): boolean {
  if (isOfOtherNode) return false;
  const own = tips.find(({ node }) => node === source)?.tip.beacon;
  return own?.height === height && own.hash !== hash && !isGivenUp(source.record(), { height, hash });
}

/**
 * The nodes that show another block than the head, in the order in which they are read. If only nodes that failed before show a new
 * block, they are read after half of the timeout: until then, the other nodes may show it too. If all nodes have failed before,
 * they are read at once, but a paused one only if it was just slower than another.
 */
export function candidates(tips: readonly NodeTip[], head: Head | undefined, timeoutMs: number): readonly NodeTip[] {
  const now = performance.now();
  const canWait = tips.some(isWellNode);
  const ahead = tips.filter((each) => hasMoved(head, each, tips));
  const well = ahead.filter(isWellNode);
  const retried = ahead.filter((each) => {
    if (isWellNode(each)) return false;
    const { newBlocks, tipSince } = each.node.record();
    if (isPaused(newBlocks, now)) return !canWait && newBlocks.lastError === undefined;
    return !canWait || well.length > 0 || now - tipSince > timeoutMs / 2;
  });
  return [...well, ...retried];
}

/**
 * The head to keep if there are no candidates.
 *
 * @throws why there is none: every node that shows another block failed to give it
 */
export function headToKeep(tips: readonly NodeTip[], head: Head | undefined): Head {
  const best = tips.find((each) => hasMoved(head, each, tips));
  if (head !== undefined && (best === undefined || tips.some(isWellNode))) return head;
  throw best?.node.record().newBlocks.lastError;
}

function isWellNode({ node }: NodeTip): boolean {
  return isWell(node.record().newBlocks);
}

/** Whether a node shows another block than the head's. A lower tip is only a node that lags. */
function hasMoved(head: Head | undefined, { node, tip: { beacon } }: NodeTip, tips: readonly NodeTip[]): boolean {
  if (head === undefined) return true;
  if (beacon.height !== head.beaconHeight) return beacon.height > head.beaconHeight;
  // In a fleet, the gateway that has the head's node replaces the block.
  if (beacon.hash === head.hash || head.isOfOtherNode) return false;
  // Two nodes can show two blocks at one height for a while. The head's own node decides for as long as it responds.
  const own = tips.find((each) => each.node === head.source);
  return own === undefined || own.node === node || own.tip.beacon.height < head.beaconHeight;
}
