import type { Instant } from '../../domain/instant.ts';
import type { Subscriber, Subscription } from '../../live/broadcast/broadcast.ts';
import type { SourceStream } from '../../loaders/source-stream.ts';
import type { EncodedUpdate } from './encoded-response.ts';

/** All subscribers of one operation. */
export type SubscriptionGroup = ReturnType<typeof createSubscriptionGroup>;

/** An update, and whether executing it again at some moment would give the same. */
export type ExecutedUpdate = { readonly update: EncodedUpdate; areCurrent(now: Instant): boolean };

type SubscriptionGroupOptions = {
  readonly stream: Pick<SourceStream, 'identityOf' | 'dependsOnPrevious' | 'skipsEqualUpdates' | 'resumesAfter'>;
  /** Executes the update of a value for members that received `previous` before it. */
  execute(value: unknown, previous: unknown): Promise<ExecutedUpdate>;
  /** Resolves when a member that waited for an execution may receive its update. */
  turn(): Promise<void>;
  /** Called for each update that a member receives. */
  readonly onSent: (update: EncodedUpdate) => void;
  /** Called when the last member has left. */
  readonly onEmpty: () => void;
  readonly now: () => Instant;
};

/** A subscriber of the source stream, on behalf of a subscriber of updates. */
type Member = Subscriber<unknown> &
  Subscription & {
    readonly subscriber: Subscriber<EncodedUpdate>;
    source: Subscription | undefined;
    /** The identity of the value whose update it received last. */
    received: unknown;
    /** That value, if updates depend on the one before. */
    previous: unknown;
    /** The text of the update that it received last, if equal updates are skipped. */
    lastText: string | undefined;
    hasLeft: boolean;
  };

/** One execution, shared by all members that need the same update. */
type UpdateExecution = {
  readonly value: unknown;
  readonly identity: unknown;
  /** The value before it, if updates depend on that. */
  readonly previous: unknown;
  readonly startedAt: number;
  /** The members that wait for it. */
  readonly waiting: Member[];
  executed: (ExecutedUpdate & { readonly at: number }) | undefined;
};

/**
 * Members receive a value one after another. An update that contains the current moment, such as an age, is executed once for
 * all that need it within this time.
 */
const SAME_MOMENT_MS = 100;

/** How many executions are cached for members that need them a little later. */
const MAX_CACHED = 32;

/**
 * How long an execution is cached, for members that are later or resume at about the same time. It references all that its update
 * depends on, such as a head.
 */
const CACHED_MS = 10_000;

/**
 * Creates the group of one operation. Members that receive the same value share one update: it is executed once and encoded once.
 * If updates depend on the value before, only members share it that also received the same value before.
 */
export function createSubscriptionGroup(options: SubscriptionGroupOptions) {
  const { stream, execute, turn, onSent, onEmpty, now } = options;
  const isResumed = stream.resumesAfter !== undefined;
  let cached: readonly UpdateExecution[] = [];
  let expiry: NodeJS.Timeout | undefined;
  let members = 0;

  function isUsable({ executed }: UpdateExecution, isFirst: boolean): boolean {
    if (executed === undefined || executed.areCurrent(now())) return true;
    return !isFirst && performance.now() - executed.at < SAME_MOMENT_MS;
  }

  function start(value: unknown, identity: unknown, previous: unknown): UpdateExecution {
    const startedAt = performance.now();
    const execution: UpdateExecution = { value, identity, previous, startedAt, waiting: [], executed: undefined };
    const isRecent = (each: UpdateExecution) => isResumed && startedAt - each.startedAt < CACHED_MS;
    const isUseful = (each: UpdateExecution) =>
      each.identity === identity ? each.previous !== previous : isRecent(each);
    cached = [execution, ...cached.filter(isUseful)].slice(0, MAX_CACHED);
    executeFor(execution);
    return execution;
  }

  function executionOf(value: unknown, identity: unknown, { received, previous }: Member): UpdateExecution {
    const known = cached.find((each) => each.identity === identity && each.previous === previous);
    return known !== undefined && isUsable(known, received === undefined) ? known : start(value, identity, previous);
  }

  /** A stream can send nothing for days after an update. */
  function expireLater(): void {
    clearTimeout(expiry);
    if (members === 0) return;
    expiry = setTimeout(() => {
      cached = [];
    }, CACHED_MS).unref();
  }

  async function executeFor(execution: UpdateExecution): Promise<void> {
    try {
      const executed = await execute(execution.value, execution.previous);
      execution.executed = { ...executed, at: performance.now() };
      expireLater();
    } catch (error) {
      // The next member that needs it executes it again.
      cached = cached.filter((each) => each !== execution);
      for (const member of execution.waiting) onError.call(member, error);
      return;
    }
    for (const member of execution.waiting.splice(0)) {
      await turn();
      send(member, execution, execution.executed.update);
    }
  }

  function send(member: Member, { value, identity }: UpdateExecution, update: EncodedUpdate): void {
    if (member.hasLeft) return;
    // After an error, the next update is the same as the first one.
    if (!(value instanceof Error)) {
      member.received = identity;
      if (stream.dependsOnPrevious) member.previous = value;
    }
    if (stream.skipsEqualUpdates) {
      const text = update.toText();
      if (member.lastText === text) {
        member.source?.request();
        return;
      }
      member.lastText = text;
    }
    onSent(update);
    member.subscriber.onNext(update);
  }

  // One function for all members, which finds its member in `this`: there can be thousands.
  function onNext(this: Member, value: unknown): void {
    const identity = stream.identityOf(value);
    if (identity === this.received) {
      this.source?.request();
      return;
    }
    const execution = executionOf(value, identity, this);
    if (execution.executed === undefined) execution.waiting.push(this);
    else send(this, execution, execution.executed.update);
  }

  function onError(this: Member, error: unknown): void {
    if (this.hasLeft) return;
    cancel.call(this);
    this.subscriber.onError(error);
  }

  function request(this: Member): void {
    if (!this.hasLeft) this.source?.request();
  }

  function cancel(this: Member): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.source?.cancel();
    members -= 1;
    if (members > 0) return;
    clearTimeout(expiry);
    onEmpty();
  }

  return {
    /**
     * Adds a member, which receives an update each time that it requests one. A slow member skips values (conflation).
     *
     * @param subscribe adds the member to its source stream, which may start differently from those of other members
     */
    join(subscriber: Subscriber<EncodedUpdate>, subscribe: SourceStream['subscribe']): Subscription {
      const member: Member = {
        subscriber,
        source: undefined,
        received: undefined,
        previous: undefined,
        lastText: undefined,
        hasLeft: false,
        onNext,
        onError,
        request,
        cancel,
      };
      member.source = subscribe(member);
      members += 1;
      return member;
    },
  };
}
