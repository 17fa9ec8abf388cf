import type { Block } from '../../src/sandbox/chain/block.ts';
import type { SandboxHosts } from '../../src/sandbox/sandbox.ts';

/** One pool of an accepted trade, as the node's block records it. */
export type Hop = {
  readonly height: number;
  /** In milliseconds. */
  readonly time: number;
  readonly transactionId: string;
  readonly step: number;
  readonly poolId: string;
  /** What came in of both tokens, below 0 for what went out: of the pool and of its orders together. */
  readonly change: readonly [bigint, bigint];
};

type Change = readonly [bigint, bigint];
type Content = {
  readonly TradePath: readonly string[];
  readonly PairChanges: readonly Change[];
  readonly OrderChanges: readonly Readonly<Record<string, Change>>[];
};

/** The trades of the blocks that were read once. A block that is replaced is another object. */
const known = new WeakMap<Block, Promise<readonly Hop[]>>();

/** The trades of the blocks of a range, oldest first, read from the node without code of the gateway. */
export async function hopsOf(
  sandbox: SandboxHosts,
  from: number,
  to = sandbox.chain.tip.height,
): Promise<readonly Hop[]> {
  const hops = Array.from({ length: to - from + 1 }, (_, index) => {
    const block = sandbox.chain.block(from + index);
    if (block === undefined) throw new Error(`the chain has no block ${from + index}`);
    const read = known.get(block) ?? hopsAt(sandbox, block.height);
    known.set(block, read);
    return read;
  });
  return (await Promise.all(hops)).flat();
}

async function hopsAt({ nodeUrls: [url = ''] }: SandboxHosts, height: number): Promise<readonly Hop[]> {
  const call = { jsonrpc: '1.0', id: 1, method: 'retrievebeaconblockbyheight', params: [height] };
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(call) });
  const [block] = JSON.parse(await response.text()).Result;
  return block.Instructions.filter(([type, isAccepted]: string[]) => type === '285' && isAccepted === '1').flatMap(
    ([, , , transactionId, text]: [string, string, string, string, string]) => {
      const { TradePath, PairChanges, OrderChanges } = withBigInts(text).Content;
      return TradePath.map((poolId, step): Hop => {
        const changes = [PairChanges[step] ?? [0n, 0n], ...Object.values(OrderChanges[step] ?? {})];
        const change = changes.reduce(([sum1, sum2], [one, two]) => [sum1 + one, sum2 + two]);
        return { height, time: block.Time * 1_000, transactionId, step, poolId, change };
      });
    },
  );
}

/** All numbers become bigint. */
function withBigInts(text: string): { readonly Content: Content } {
  const exact = (_key: string, value: unknown, { source }: { readonly source?: string }) =>
    typeof value === 'number' ? BigInt(source ?? '') : value;
  return JSON.parse(text, exact as (key: string, value: unknown) => unknown);
}
