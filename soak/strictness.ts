/** Which promises are forgiven to be broken. */
export type Forgiven = Readonly<Record<keyof typeof FORGIVEN, boolean>>;

/** What a gateway is not held to yet. Each is a promise that it does not keep: set to `false` where it does. */
export const FORGIVEN = {
  /**
   * While any node answers without its newest blocks, nothing is said of how fresh the gateway must be: it stays with a
   * node until a call to it fails, and these are answers.
   */
  stayingWithANodeThatHidesBlocks: false,
  /**
   * A tip that is replaced while it is read is told half and half until the next look: the hash and the chains of the one
   * block, the pools of the other.
   */
  mixingTwoBlocksOfOneHeight: false,
  /**
   * Where the chain that is told and the height that is named still differ after the gateway has asked again, because a node
   * lags or blocks come quickly, both are published as one head: the height and the pools of the one, the hash, the time
   * and the chains of the other.
   */
  mixingTwoHeights: false,
} as const satisfies Record<string, boolean>;
