/** What is wrong with what the gateway serves, for those who operate it: `/ready` gives all that there are. */
export type Problem = {
  /** Stable: it never changes its meaning. */
  readonly code: ProblemCode;
  /** In plain words. The wording may change, and it never holds an address. */
  readonly message: string;
};

/** Every code of a {@link Problem}. */
export type ProblemCode =
  | 'STOPPING'
  | 'HEAD_NOT_READ'
  | 'NODE_UNREADABLE'
  | 'NO_NEW_BLOCK'
  | 'BLOCK_TOO_OLD'
  | 'NODE_FAR_BEHIND'
  | 'MARKET_DATA_NOT_READ'
  | 'MARKET_DATA_STALE';
