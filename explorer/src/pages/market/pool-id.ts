const TOKEN_IDS = /^([0-9a-f]{64})-([0-9a-f]{64})(-[0-9a-f]{64})?$/;

/** What the id in the URL of a pool names. */
export type PoolName =
  | { readonly kind: 'tokens'; readonly token1Id: string; readonly token2Id: string }
  | { readonly kind: 'pair'; readonly poolId: string };

/**
 * Reads the id of a pool: both token ids, as the node names pools of V1, or a pool id with a hash behind them, as the
 * market-data host and the node name pools of V3. Letters can be in upper case. A pool id with a hash stays as it is: the gateway finds
 * the market by the host's spelling.
 */
export function parsePoolId(text: string): PoolName | undefined {
  const match = TOKEN_IDS.exec(text.toLowerCase());
  if (match === null) return undefined;
  const [, a = '', b = '', hash] = match;
  if (hash !== undefined) return { kind: 'pair', poolId: text };
  if (a === b) return undefined;
  const [token1Id, token2Id] = a < b ? [a, b] : [b, a];
  return { kind: 'tokens', token1Id, token2Id };
}

/**
 * A pool id as the node spells it, in lower case and with the smaller token id first. The market-data host may write it in upper case,
 * or with its two token ids in the other order.
 */
export function toNodePoolId(poolId: string): string {
  const [a = '', b = '', ...hash] = poolId.toLowerCase().split('-');
  return [...[a, b].sort(), ...hash].join('-');
}

/** Both token ids in the order of the node: the smaller one first. */
export function keyOfTokens(a: string, b: string): string {
  return a < b ? `${a}-${b}` : `${b}-${a}`;
}

type IdentifiedPool = {
  readonly poolId: string | null;
  readonly token1: { readonly tokenId: string };
  readonly token2: { readonly tokenId: string };
};

/** What distinguishes a pool of the node from all others: its pool id in V3, its two tokens in V1. */
export function keyOfPool({ poolId, token1, token2 }: IdentifiedPool): string {
  return poolId ?? keyOfTokens(token1.tokenId, token2.tokenId);
}

/** The path of the page of a pool: by its pool id in V3, by its two tokens in V1. */
export function poolPath(token1Id: string, token2Id: string, poolId: string | null = null): string {
  return `/pool/${poolId ?? keyOfTokens(token1Id, token2Id)}`;
}
