/** One of the two upstreams of the gateway. */
export type Upstream = 'NODE' | 'MARKET_DATA';

/** A host of the sandbox: the index of a node, or the market-data host. */
export type HostName = number | 'market data';

/** Records the faults of the hosts, which can be the cause of an error or of an old response. Times are of `performance.now()`. */
export type Outages = {
  /** Records the beginning of a fault. @returns a function that records its end */
  begin(host: HostName, kind: string): () => void;
  /** Records the beginning of a fault with which a node sends no blocks or wrong ones. It explains only that trades are not known. */
  beginOfTrades(host: number, kind: string): () => void;
  /** Records the beginning of a fault of a fleet. @returns a function that records its end */
  beginOfFleet(kind: string): () => void;
  /** Whether a gateway could not reach a height in time: a fault of the fleet or of the node explains it. */
  explainsLateHeight(from: number, to: number): boolean;
  /** Whether the gateways of a fleet followed the chain each by itself between two times, so that they served different heights. */
  wereAlone(from: number, to: number): boolean;
  /**
   * Whether faults explain an error of an upstream between two times. While nodes have different blocks, only those that have
   * shown the block of the head can be read for the heights near the tip: then the fault of one node explains an error. A node that
   * is called less may not be read for earlier heights: then a fault of each other node does.
   *
   * @param height the earlier height of the field that failed, if it has one
   */
  explains(upstream: Upstream, from: number, to: number, height?: number): boolean;
  /** Whether faults explain that the trades of a block could not be read between two times. Its read begins when it is shown. */
  explainsTrades(from: number, to: number): boolean;
  /** Whether a node sent blocks with a trade that cannot be decoded, while a block that was shown between two times could be read. */
  explainsDamagedTrade(from: number, to: number): boolean;
  /** Whether any node responded to requests for states with errors -8000 in the minutes before a time, so that it is called less. */
  hasFailedStates(at: number): boolean;
  /**
   * Whether each node did that, could not be read between two times, or had a fork. While nodes have different blocks, one node that
   * is called less explains it, as in `explains`.
   */
  explainsTooManyErrors(from: number, to: number, height?: number): boolean;
  /** Records that the tip is replaced now. @param height its height */
  replaceTip(height: number): void;
  /**
   * Records that one of the nodes behind a URL follows a branch of the chain. The URL can still be read.
   *
   * @param height the height of its first block
   * @returns a function that records the end: when all heights of the branch are final
   */
  fork(height: number): () => void;
  /**
   * Whether a tip was replaced between two times or shortly before, so that the gateway could read parts of two blocks; or
   * whether the nodes behind a URL were on two branches then. With a height, only blocks near it count.
   */
  explainsReplaced(from: number, to: number, height?: number): boolean;
  /**
   * Whether a state of the first URL can be of a branch, and no other URL has it: between two times or shortly before, the head
   * could be of a branch that no other URL has, and the height is not final under the last common block; or the other nodes
   * could not be read, or are called less.
   */
  explainsBranch(height: number, from: number, to: number): boolean;
  /** Whether a host of an upstream had no fault between two times. */
  couldBeRead(upstream: Upstream, from: number, to: number): boolean;
  /** Whether all hosts of an upstream were without a fault between two times, and for so long before that the gateway calls them again. */
  isWell(upstream: Upstream, from: number, to: number): boolean;
  /** Whether no host of an upstream listened at any time between two times. */
  isDown(upstream: Upstream, from: number, to: number): boolean;
  /** The faults between two times or shortly before, as texts. */
  describe(from: number, to: number): readonly string[];
  /** The number of faults, by kind of host and kind of fault. */
  readonly counts: ReadonlyMap<string, number>;
};

/** A height is final, and is recorded, when so many blocks are above it. */
export const BLOCKS_UNTIL_FINAL = 3;

/** How far below different blocks of nodes there is surely one that all of them have shown. */
const COMMON_BELOW = 20;

/** The gateway may not read heights from so many below a fork from a URL that has shown it. */
const DOUBTFUL_BELOW = 64;

/** The `UPSTREAM_TIMEOUT_MS` of the gateway. */
export const UPSTREAM_TIMEOUT_MS = 1_500;

/** How long a request waits in the queue of an upstream before the gateway refuses it. */
export const QUEUE_WAIT_MS = UPSTREAM_TIMEOUT_MS / 2;

/** How long a fault has effects after its end: a pending request, an open circuit. */
const AFTER_EFFECT_MS = 5_000;

/**
 * How long the gateway may not call a host after its fault. The circuit of the host closes at the next poll, and while nodes push their
 * blocks, a poll can be 10 seconds after the last one.
 */
const NOT_CALLED_MS = 11_000;

/** How long the trades of a block are not known after its read has failed: until they are read again. */
export const TRADES_AFTER_MS = 16_000;

/** How long a block is remembered. */
const REMEMBERED_MS = 120_000;

/** The kind of a fault with which trades cannot be decoded. */
export const DAMAGED_TRADE = 'damaged-trade';

/** How long a fleet may need after a fault until all of it is at the tip. */
const FLEET_AFTER_MS = 7_000;

/** How long errors of a node reduce the error budget that the gateway has for it. */
const ERROR_BUDGET_MS = 10 * 60_000;

/** Kinds of faults with which a node responds to requests for states with error -8000. */
const FAILING_STATES: ReadonlySet<string> = new Set(['lag', 'state-missing', 'state-error']);

/** Kinds of faults with which a node responds, but without its newest blocks. */
const HIDING_BLOCKS: ReadonlySet<string> = new Set(['lag', 'syncing', 'state-missing']);

/** The kind of a fault that is a delay of this process, in which the hosts run. */
export const PAUSED_WITH_SOAK = 'paused with the soak';

/** The height of a block that was replaced, or of the first block of a branch. */
type Replaced = { readonly height: number };

type Period = { readonly from: number; to: number };
type Outage = Period & { readonly host: HostName; readonly kind: string };

/** A fork behind the first URL. */
type Fork = Period & Replaced & { readonly host: 0 };

/** Creates the record of a run with this number of nodes. */
export function createOutages(nodes: number): Outages {
  const outages: Outage[] = [];
  const ofTrades: Outage[] = [];
  const replacedTips: (Replaced & { readonly at: number })[] = [];
  const forks: Fork[] = [];
  const counts = new Map<string, number>();
  const ofFleet: (Period & { readonly kind: string })[] = [];

  /** Counts a fault and adds it to a list. @returns a function that records its end */
  function begin<Fault>(faults: (Fault & Period)[], name: string, fault: Fault): () => void {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const begun = { ...fault, from: performance.now(), to: Number.POSITIVE_INFINITY };
    faults.push(begun);
    return () => {
      begun.to = performance.now();
    };
  }

  const fleetFaults = (from: number, to: number) =>
    ofFleet.filter((fault) => fault.from <= to && fault.to + FLEET_AFTER_MS >= from);

  const within = (all: readonly Outage[], from: number, to: number) =>
    all.filter((outage) => outage.from <= to && outage.to >= from);
  const during = (from: number, to: number) => within(outages, from, to);

  function isEveryNodeAmong(found: readonly Pick<Outage, 'host'>[]): boolean {
    return new Set(found.map(({ host }) => host).filter((host) => host !== 'market data')).size === nodes;
  }

  const failedStates = (at: number) => during(at - ERROR_BUDGET_MS, at).filter(({ kind }) => FAILING_STATES.has(kind));
  const hides = (found: readonly Outage[]) => found.some(({ kind }) => HIDING_BLOCKS.has(kind));
  const ofUpstream = (upstream: Upstream, found: readonly Outage[]) =>
    found.filter(({ host }) => (host === 'market data') === (upstream === 'MARKET_DATA'));
  const forksDuring = (from: number, to: number) =>
    forks.filter((fork) => fork.from <= to && fork.to >= from - AFTER_EFFECT_MS);
  const replacedDuring = (from: number, to: number): readonly Replaced[] => [
    ...replacedTips.filter(({ at }) => at >= from - AFTER_EFFECT_MS && at <= to),
    ...forksDuring(from, to),
  ];
  /** Whether a height is so near to a replaced block that only some nodes can be read for it. Without a height, it is the newest. */
  const isNear =
    (height = Number.POSITIVE_INFINITY) =>
    (replaced: Replaced) =>
      height > replaced.height - COMMON_BELOW;
  const areBlocksReplaced = (from: number, to: number, height?: number) =>
    replacedDuring(from, to).some(isNear(height));
  /** A URL that had a fork may not be read for heights that can be of a branch. */
  const isNoneLeft = (from: number, to: number, height?: number) => {
    const forked = height === undefined ? forks : forks.filter((fork) => height > fork.height - DOUBTFUL_BELOW);
    return isEveryNodeAmong([...failedStates(to), ...during(from - AFTER_EFFECT_MS, to), ...forked.slice(0, 1)]);
  };

  const ofMarketData = (found: readonly Outage[]) => found.some(({ host }) => host === 'market data');

  return {
    counts,
    begin: (host, kind) => begin(outages, `${host === 'market data' ? host : 'node'}: ${kind}`, { host, kind }),
    beginOfTrades: (host, kind) => begin(ofTrades, `blocks of a node: ${kind}`, { host, kind }),
    beginOfFleet: (kind) => begin(ofFleet, `fleet: ${kind}`, { kind }),
    explainsLateHeight: (from, to) =>
      fleetFaults(from, to).length > 0 || ofUpstream('NODE', during(from - AFTER_EFFECT_MS, to)).length > 0,
    wereAlone: (from, to) =>
      fleetFaults(from, to).some(({ kind }) => kind.includes('Redis')) ||
      // The connections of the gateways to Redis go through this process too.
      during(from - FLEET_AFTER_MS, to).some(({ kind }) => kind === PAUSED_WITH_SOAK),
    explains(upstream, from, to, height) {
      if (fleetFaults(from, to).length > 0) return true;
      const found = during(from - AFTER_EFFECT_MS, to);
      if (upstream === 'MARKET_DATA') return ofMarketData(found);
      const hasFault = ofUpstream('NODE', found).length > 0;
      const isReplaced = hasFault && areBlocksReplaced(from, to, height);
      const isNotCalled = hasFault && height !== undefined && isEveryNodeAmong([...found, ...failedStates(to)]);
      return isEveryNodeAmong(found) || hides(found) || isReplaced || isNotCalled;
    },
    explainsTrades(from, to) {
      if (fleetFaults(from, to).length > 0) return true;
      const found = ofUpstream('NODE', [...during(from - AFTER_EFFECT_MS, to), ...within(ofTrades, from, to)]);
      return isEveryNodeAmong(found) || hides(found) || (found.length > 0 && areBlocksReplaced(from, to));
    },
    explainsDamagedTrade: (from, to) =>
      within(ofTrades, from - REMEMBERED_MS, to).some(({ kind }) => kind === DAMAGED_TRADE),
    replaceTip: (height) => void replacedTips.push({ height, at: performance.now() }),
    fork: (height) => begin(forks, 'node: fork behind one URL', { host: 0, height }),
    explainsReplaced: areBlocksReplaced,
    explainsBranch(height, from, to) {
      const isOfBranch = (fork: Fork) => height > fork.height - 1 - BLOCKS_UNTIL_FINAL;
      return forksDuring(from, to).some(isOfBranch) || isNoneLeft(from, to);
    },
    hasFailedStates: (at) => failedStates(at).length > 0,
    explainsTooManyErrors: (from, to, height) =>
      isNoneLeft(from, to, height) || (failedStates(to).length > 0 && areBlocksReplaced(from, to, height)),
    isWell(upstream, from, to) {
      if (fleetFaults(from, to).length > 0) return false;
      return ofUpstream(upstream, during(from - NOT_CALLED_MS, to)).length === 0;
    },
    isDown(upstream, from, to) {
      const down = ofUpstream(upstream, during(from, to)).filter(
        (outage) => outage.kind === 'stopped' && outage.from <= from && outage.to >= to,
      );
      return upstream === 'NODE' ? isEveryNodeAmong(down) : down.length > 0;
    },
    describe: (from, to) =>
      [
        ...during(from - AFTER_EFFECT_MS, to),
        ...within(ofTrades, from - TRADES_AFTER_MS, to).map((fault) => ({ ...fault, host: `blocks of ${fault.host}` })),
        ...fleetFaults(from, to).map((fault) => ({ ...fault, host: 'fleet' })),
      ].map(
        (outage) =>
          `${outage.host}: ${outage.kind} from ${Math.round(outage.from - from)} to ${Math.round(outage.to - from)} ms`,
      ),
    couldBeRead(upstream, from, to) {
      if (fleetFaults(from, to).length > 0) return false;
      const found = during(from, to);
      if (upstream === 'MARKET_DATA') return !ofMarketData(found);
      return !isEveryNodeAmong(found);
    },
  };
}
