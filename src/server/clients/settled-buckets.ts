import { LRUCache } from 'lru-cache';
import type { Instant } from '../../domain/instant.ts';
import { drain, fullBucket, type RateLimit, refill, type TokenBucket } from '../../domain/token-bucket.ts';
import type { SharedAccounts, Spending } from '../../fleet/shared-accounts.ts';
import { type Buckets, type ClientBucket, MAX_CLIENTS } from './buckets.ts';

type SettledBucketsOptions = {
  readonly rate: RateLimit;
  readonly accounts: SharedAccounts;
  readonly now: () => Instant;
};

/** Time from one settlement of all clients to the next. */
const SETTLE_EVERY_MS = 500;

/** Minimum time between two settlements of clients that have spent much. */
const MIN_PAUSE_MS = 2;

/** Maximum time between two settlements, so that the others count this replica. After a failure, it waits for this time. */
const BEAT_MS = 1_000;

/** The maximum number of clients of one settlement. */
const MAX_SPENDINGS = 500;

/** The part of what is left in a bucket that all other replicas together may have given without this one knowing it. */
const MAX_OVERDRAFT = 0.3;

/** The part of what a client may get before a settlement that causes one at once. */
const MUCH = 1 / 4;

/**
 * Creates the buckets of one replica of a fleet.
 *
 * A charge is taken from the bucket in memory, without waiting. What was spent is settled with the other replicas shortly
 * after, many clients at a time, and the replies lower the buckets here. Until a settlement, a replica gives a client only a part
 * of what was left, and one operation more: if one replica gives all and each of the others its part, this is 1.3 times what was
 * left. What all gave too much is a debt in the account. While nothing can be settled, each replica counts alone.
 */
export function createSettledBuckets({ rate, accounts, now }: SettledBucketsOptions): Buckets {
  const buckets = new LRUCache<string, SettledBucket>({
    max: MAX_CLIENTS,
    memoMethod: (client) => new SettledBucket(client, terms),
  });
  /** The buckets with points that are not settled, and those of them that have to be settled soon. */
  let unsettled = new Set<SettledBucket>();
  let urgent = new Set<SettledBucket>();
  const terms: Terms = { rate, now, share: ALL, onSpent };
  let isSettling = false;
  let isFailing = false;
  let isClosed = false;
  let settledAt = Number.NEGATIVE_INFINITY;
  let allSettledAt = Number.NEGATIVE_INFINITY;
  /** When the next settlement begins. */
  let dueAt = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  settle();

  function onSpent(bucket: SettledBucket, isFirst: boolean): void {
    const isUrgent = bucket.hasSpentMuch();
    if (isFirst) unsettled.add(bucket);
    if (isUrgent) urgent.add(bucket);
    if (isFirst || isUrgent) schedule();
  }

  /** Settles when it is due, but not before the turn of the event loop is over. */
  function schedule(): void {
    if (isSettling || isClosed) return;
    const at = nextAt();
    if (at >= dueAt) return;
    dueAt = at;
    clearTimeout(timer);
    const waitMs = at - performance.now();
    if (waitMs > 0) timer = setTimeout(settle, waitMs).unref();
    else setImmediate(settle);
  }

  function nextAt(): number {
    // While nothing can be settled, the replica tries once a second.
    if (isFailing) return settledAt + BEAT_MS;
    if (urgent.size > 0) return settledAt + MIN_PAUSE_MS;
    return unsettled.size > 0 ? allSettledAt + SETTLE_EVERY_MS : settledAt + BEAT_MS;
  }

  function settle(): void {
    if (isSettling || isClosed) return;
    isSettling = true;
    settledAt = performance.now();
    dueAt = Number.POSITIVE_INFINITY;
    clearTimeout(timer);
    void settleOnce(takeSome()).finally(() => {
      isSettling = false;
      schedule();
    });
  }

  /** The buckets to settle now: those that are urgent, or all. */
  function takeSome(): readonly SettledBucket[] {
    const isAll = urgent.size === 0 || settledAt >= allSettledAt + SETTLE_EVERY_MS;
    const some = [...(isAll ? unsettled : urgent)].slice(0, MAX_SPENDINGS);
    for (const bucket of some) {
      unsettled.delete(bucket);
      urgent.delete(bucket);
    }
    // With more, the next settlement follows at once.
    if (isAll && unsettled.size === 0) allSettledAt = settledAt;
    return some;
  }

  async function settleOnce(some: readonly SettledBucket[]): Promise<void> {
    const spendings = some.map((bucket) => bucket.begin());
    try {
      const { left, replicas } = await accounts.settle(rate, spendings);
      isFailing = false;
      terms.share = replicas > 1 ? MAX_OVERDRAFT / (replicas - 1) : ALL;
      for (const [index, bucket] of some.entries()) {
        bucket.end(left[index]);
        if (bucket.spent() > 0) onSpent(bucket, true);
      }
    } catch {
      isFailing = true;
      terms.share = ALL;
      // These, and all others: they are settled when their clients are charged again.
      for (const bucket of unsettled) bucket.begin();
      for (const bucket of [...some, ...unsettled]) bucket.end(undefined);
      unsettled = new Set();
      urgent = new Set();
    }
  }

  return {
    of: (client) => buckets.memo(client),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}

/** The share of a replica that counts alone. */
const ALL = Number.POSITIVE_INFINITY;

/** What all buckets share. */
type Terms = {
  readonly rate: RateLimit;
  readonly now: () => Instant;
  /** The part of what is left that this replica may give before a settlement. */
  share: number;
  /** Called when a bucket was charged. @param isFirst whether everything before is settled */
  readonly onSpent: (bucket: SettledBucket, isFirst: boolean) => void;
};

class SettledBucket implements ClientBucket {
  readonly #client: string;
  readonly #terms: Terms;
  #bucket: TokenBucket;
  /** Spent since the last settlement began, in thousandths of a point. */
  #spent = 0;
  /** In the settlement under way. */
  #settling = 0;
  #isSettling = false;
  /** What was left before anything of that was spent, in thousandths of a point. */
  #leftBefore: number;

  constructor(client: string, terms: Terms) {
    this.#client = client;
    this.#terms = terms;
    this.#bucket = fullBucket(terms.rate, terms.now());
    this.#leftBefore = this.#bucket.thousandths;
  }

  level(): TokenBucket {
    const { rate, now } = this.#terms;
    this.#bucket = refill(this.#bucket, rate, now());
    const unsettled = this.#spent + this.#settling;
    const mustSettle = unsettled > 0 && unsettled >= this.#mayGive();
    return mustSettle && this.#bucket.thousandths > 0 ? { ...this.#bucket, thousandths: 0 } : this.#bucket;
  }

  take(points: number): void {
    if (points <= 0) return;
    if (this.#spent + this.#settling === 0) this.#leftBefore = this.#bucket.thousandths;
    this.#bucket = drain(this.#bucket, points);
    const isFirst = this.#spent === 0 && !this.#isSettling;
    this.#spent += points * 1_000;
    this.#terms.onSpent(this, isFirst);
  }

  /** What no settlement has begun to settle, in thousandths of a point. */
  spent(): number {
    return this.#spent;
  }

  /** Whether a good part of what this replica may give was given. */
  hasSpentMuch(): boolean {
    return this.#spent > this.#mayGive() * MUCH;
  }

  #mayGive(): number {
    const { share } = this.#terms;
    return share === ALL ? ALL : Math.max(0, this.#leftBefore) * share;
  }

  /** Begins to settle what was spent. */
  begin(): Spending {
    const spent = this.#spent;
    this.#isSettling = true;
    this.#settling = spent;
    this.#spent = 0;
    this.#bucket = refill(this.#bucket, this.#terms.rate, this.#terms.now());
    return { client: this.#client, spent, left: this.#bucket.thousandths };
  }

  /**
   * Takes over what is left after a settlement. It only lowers the bucket: what this replica has counted is spent for certain.
   * If the settlement failed, the next one shows what was spent in what is left here.
   */
  end(left: number | undefined): void {
    this.#isSettling = false;
    this.#settling = 0;
    if (left === undefined) {
      this.#spent = 0;
      return;
    }
    const own = refill(this.#bucket, this.#terms.rate, this.#terms.now());
    this.#bucket = { ...own, thousandths: Math.min(own.thousandths, left - this.#spent) };
    this.#leftBefore = this.#bucket.thousandths + this.#spent;
  }
}
