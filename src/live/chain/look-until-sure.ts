import type { Head } from './head.ts';
import type { Nodes, SeenNode } from './nodes.ts';

/** Another block at the head's height takes its place only when the tip was requested again so often and always shows it. */
const LOOKS_AGAIN = 3;

/** The same where the head's node has shown both blocks in turn: so many looks in a row must not show the head's. */
const LOOKS_WHERE_UNCERTAIN = 16;

/**
 * Looks at the tips of the nodes. Behind a load balancer a node can show two blocks of one height in turn, for as long as its
 * nodes differ. The head's own stays while it is still shown, or the head would change with every look.
 *
 * @returns the nodes that are well; the head's own with the head's block for as long as it is not sure that it was replaced
 * @throws UpstreamError where no node is well
 */
export async function lookUntilSure(
  nodes: Pick<Nodes, 'look' | 'blockAt' | 'looksWithout'>,
  head: Head,
): Promise<readonly SeenNode[]> {
  const { source, beaconHeight, hash, chainInfo } = head;
  let seen = await nodes.look(source);
  for (let looks = 0; looks < LOOKS_AGAIN && isReplaced(head, seen); looks++) {
    if (nodes.blockAt(source, beaconHeight) === 'uncertain') break;
    seen = await nodes.look(source);
  }
  const isUncertain = isReplaced(head, seen) && nodes.blockAt(source, beaconHeight) === 'uncertain';
  if (!isUncertain || nodes.looksWithout(source, hash) >= LOOKS_WHERE_UNCERTAIN) return seen;
  return seen.map((each) => (each.node === source ? { node: source, tip: chainInfo } : each));
}

/** Whether the head's own node shows another block at the head's height. */
function isReplaced({ source, beaconHeight, hash }: Head, seen: readonly SeenNode[]): boolean {
  const own = seen.find(({ node }) => node === source)?.tip.beacon;
  return own !== undefined && own.height === beaconHeight && own.hash !== hash;
}
