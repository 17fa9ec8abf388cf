import type { Upstream } from './judge.ts';
import { FORGIVEN, type Forgiven } from './strictness.ts';

/** A host of the sandbox: a node by its number, or the market-data host. */
export type HostName = number | 'market data';

/** What went wrong with which host, and when: what an error, or an old answer, may be due to. */
export type Outages = {
  /** Something begins to go wrong. @returns how it is over */
  begin(host: HostName, kind: string): () => void;
  /** Whether an error of an upstream that was given between two moments is due to what went wrong there. */
  explain(upstream: Upstream, from: number, to: number): boolean;
  /** Whether any node answered requests for states with errors -8000 in the minutes before a moment, so that it is called less. */
  hasFailedStates(at: number): boolean;
  /** Whether each node did that, or could not be read between two moments. */
  explainTooManyErrors(from: number, to: number): boolean;
  /** Notes that the tip is replaced now. */
  replaceTip(): void;
  /**
   * Notes that one of the nodes behind a URL goes on a branch of the chain. The URL can still be read.
   *
   * @returns how it is over: when all blocks of the branch lie below what is final
   */
  fork(): () => void;
  /**
   * Whether a tip was replaced between two moments, or so shortly before that one could be read half and half; or whether a
   * URL led to two branches then.
   */
  explainReplaced(from: number, to: number): boolean;
  /** Whether the gateway could read an upstream all the time between two moments. */
  couldBeRead(upstream: Upstream, from: number, to: number): boolean;
  /** Whether nothing was wrong with an upstream, at any of its hosts, between two moments, nor shortly before. */
  isWell(upstream: Upstream, from: number, to: number): boolean;
  /** Whether no host of an upstream even listened, all the time between two moments. */
  isDown(upstream: Upstream, from: number, to: number): boolean;
  /** What was wrong between two moments, or shortly before: for whoever looks for the cause of something. */
  told(from: number, to: number): readonly string[];
  /** How often each kind of fault began, by the kind of host. */
  readonly counts: ReadonlyMap<string, number>;
};

/** For so long after a fault its traces may be seen: a reading that was under way, a breaker that is open. */
const FAULTS_EXCUSE_FOR_MS = 5_000;

/** Errors that a node answered with are held against it for as long as the gateway takes to allow as many again. */
const ERRORS_COUNT_FOR_MS = 10 * 60_000;

/** Kinds of faults of a node that answers requests for states with error -8000. */
const FAILING_STATES: ReadonlySet<string> = new Set(['lag', 'state-missing', 'state-error']);

/** Kinds of faults of a node that answers, but without its newest blocks. */
const HIDING_BLOCKS: ReadonlySet<string> = new Set(['lag', 'syncing', 'state-missing']);

/** What forks count as. */
const FORK = 'node: fork behind one URL';

type Outage = { readonly host: HostName; readonly kind: string; readonly from: number; to: number };

/** Makes the record of a run with this many nodes. */
export function createOutages(nodes: number, forgiven: Forgiven = FORGIVEN): Outages {
  const outages: Outage[] = [];
  const replacedAt: number[] = [];
  const forks: { readonly from: number; to: number }[] = [];
  const counts = new Map<string, number>();

  function during(from: number, to: number): Outage[] {
    const found: Outage[] = [];
    for (let place = outages.length - 1; place >= 0; place--) {
      const outage = outages[place];
      if (outage && outage.from <= to && outage.to >= from) found.push(outage);
    }
    return found;
  }

  function isEveryNodeAmong(found: readonly Outage[]): boolean {
    return new Set(found.map(({ host }) => host).filter((host) => host !== 'market data')).size === nodes;
  }

  const failedStates = (at: number) =>
    during(at - ERRORS_COUNT_FOR_MS, at).filter(({ kind }) => FAILING_STATES.has(kind));
  const hides = (found: readonly Outage[]) => found.some(({ kind }) => HIDING_BLOCKS.has(kind));
  const ofUpstream = (upstream: Upstream, found: readonly Outage[]) =>
    found.filter(({ host }) => (host === 'market data') === (upstream === 'MARKET_DATA'));
  const ofMarketData = (found: readonly Outage[]) => found.some(({ host }) => host === 'market data');

  return {
    counts,
    begin(host, kind) {
      const name = `${host === 'market data' ? host : 'node'}: ${kind}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      const outage = { host, kind, from: performance.now(), to: Number.POSITIVE_INFINITY };
      outages.push(outage);
      return () => {
        outage.to = performance.now();
      };
    },
    explain(upstream, from, to) {
      const found = during(from - FAULTS_EXCUSE_FOR_MS, to);
      return upstream === 'NODE' ? isEveryNodeAmong(found) || hides(found) : ofMarketData(found);
    },
    replaceTip: () => void replacedAt.push(performance.now()),
    fork() {
      counts.set(FORK, (counts.get(FORK) ?? 0) + 1);
      const fork = { from: performance.now(), to: Number.POSITIVE_INFINITY };
      forks.push(fork);
      return () => {
        fork.to = performance.now();
      };
    },
    explainReplaced(from, to) {
      const since = from - FAULTS_EXCUSE_FOR_MS;
      return (
        replacedAt.some((at) => at >= since && at <= to) || forks.some((fork) => fork.from <= to && fork.to >= since)
      );
    },
    hasFailedStates: (at) => failedStates(at).length > 0,
    explainTooManyErrors: (from, to) =>
      isEveryNodeAmong([...failedStates(to), ...during(from - FAULTS_EXCUSE_FOR_MS, to)]),
    isWell(upstream, from, to) {
      return ofUpstream(upstream, during(from - FAULTS_EXCUSE_FOR_MS, to)).length === 0;
    },
    isDown(upstream, from, to) {
      const down = ofUpstream(upstream, during(from, to)).filter(
        (outage) => outage.kind === 'stopped' && outage.from <= from && outage.to >= to,
      );
      return upstream === 'NODE' ? isEveryNodeAmong(down) : down.length > 0;
    },
    told: (from, to) =>
      during(from - FAULTS_EXCUSE_FOR_MS, to).map(
        (outage) =>
          `${outage.host}: ${outage.kind} from ${Math.round(outage.from - from)} to ${Math.round(outage.to - from)} ms`,
      ),
    couldBeRead(upstream, from, to) {
      const found = during(from, to);
      if (upstream === 'MARKET_DATA') return !ofMarketData(found);
      return !isEveryNodeAmong(found) && !(forgiven.stayingWithANodeThatHidesBlocks && hides(found));
    },
  };
}
