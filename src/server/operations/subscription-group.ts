import type { Instant } from '../../domain/instant.ts';
import type { ExecutedUpdate, OpenedSubscription } from '../../graphql/subscription.ts';
import type { Subscriber, Subscription } from '../../live/broadcast/subscriber.ts';
import type { EncodedUpdate } from './encoded-update.ts';

/** All who have subscribed to one operation. */
export type SubscriptionGroup = {
  /**
   * Lets a member in, who gets an update each time that it asks: one that is slow passes values over.
   *
   * @param subscribe what it listens to, which can begin with an error that those before it did not get
   */
  join(reader: Subscriber<EncodedUpdate>, subscribe?: OpenedSubscription['subscribe']): Subscription;
};

/** An update, and whether it would be made the same at some moment. */
export type Made = Pick<ExecutedUpdate, 'holds'> & { readonly update: EncodedUpdate };

/** What a group is made of. */
export type SubscriptionGroupOptions = {
  readonly subscription: OpenedSubscription;
  /** Makes the update of a value for those who got `previous` before it. */
  make(value: unknown, previous: unknown): Promise<Made>;
  /** Resolves when a member that had to wait for its update may be given it. */
  turn(): Promise<void>;
  /** Told of each update that a member is given. */
  readonly handedOver: (update: EncodedUpdate) => void;
  /** Told when the last member has left. */
  readonly onEmpty: () => void;
  readonly now: () => Instant;
};

/** One who listens to the values of a subscription, so that its reader can subscribe to the updates. */
type Member = Subscriber<unknown> &
  Subscription & {
    readonly reader: Subscriber<EncodedUpdate>;
    values: Subscription | undefined;
    /** The value whose update it got last. */
    previous: unknown;
    hasLeft: boolean;
  };

/** What is made for some members, and serves the others who ask for the same. */
type Shared = {
  readonly value: unknown;
  /** What its readers have got before, where an update tells of that. */
  readonly previous: unknown;
  readonly askedAt: number;
  /** Who gets it once it is made. */
  readonly waiting: Member[];
  made: (Made & { readonly at: number }) | undefined;
};

/**
 * Members hear of a new value one after another, and are told of the same moment: what tells of it, such as an age, is made
 * once for those who ask within this time.
 */
const SAME_MOMENT_MS = 100;

/** How many updates are kept for those who come a little later; of a resumed subscription also of earlier values. */
const MAX_KEPT = 4;
const MAX_KEPT_RESUMED = 32;

/** How long those who come back at the same time, one behind the other, take at the most. */
const KEPT_MS = 10_000;

/**
 * Makes the group of an operation. Whoever has got the same before and now gets the same is given one update, executed and
 * written once; a member that is behind has one of its own, or shares it with those who are behind likewise.
 */
export function createSubscriptionGroup(options: SubscriptionGroupOptions): SubscriptionGroup {
  const { subscription, make, turn, handedOver, onEmpty, now } = options;
  const isResumed = subscription.resumesAfter !== undefined;
  let kept: readonly Shared[] = [];
  let members = 0;

  function isUsable({ made }: Shared, isFirst: boolean): boolean {
    if (made === undefined || made.holds(now())) return true;
    return !isFirst && performance.now() - made.at < SAME_MOMENT_MS;
  }

  function isWorthKeeping(each: Shared, newest: Shared): boolean {
    return each.value === newest.value || (isResumed && newest.askedAt - each.askedAt < KEPT_MS);
  }

  function share(value: unknown, previous: unknown): Shared {
    const shared: Shared = { value, previous, askedAt: performance.now(), waiting: [], made: undefined };
    const others = kept.filter((each) => !isSame(each, value, previous) && isWorthKeeping(each, shared));
    kept = [shared, ...others].slice(0, isResumed ? MAX_KEPT_RESUMED : MAX_KEPT);
    makeFor(shared);
    return shared;
  }

  function sharedFor(value: unknown, before: unknown): Shared {
    const previous = subscription.dependsOnPrevious ? before : undefined;
    const known = kept.find((each) => isSame(each, value, previous));
    return known !== undefined && isUsable(known, before === undefined) ? known : share(value, previous);
  }

  async function makeFor(shared: Shared): Promise<void> {
    try {
      const made = await make(shared.value, shared.previous);
      shared.made = { ...made, at: performance.now() };
    } catch (error) {
      // It is made again for whoever asks next.
      kept = kept.filter((each) => each !== shared);
      for (const member of shared.waiting) onError.call(member, error);
      return;
    }
    for (const member of shared.waiting.splice(0)) {
      await turn();
      give(member, shared.value, shared.made.update);
    }
  }

  function give(member: Member, value: unknown, update: EncodedUpdate): void {
    if (member.hasLeft) return;
    // After an error, the next update is as if nothing had come before.
    if (!(value instanceof Error)) member.previous = value;
    handedOver(update);
    member.reader.onNext(update);
  }

  function getUpdate(member: Member, value: unknown): void {
    const shared = sharedFor(value, member.previous);
    if (shared.made === undefined) shared.waiting.push(member);
    else give(member, value, shared.made.update);
  }

  // One function for all members: they are told apart by what it is called on.
  function onNext(this: Member, value: unknown): void {
    if (subscription.isChange(value, this.previous)) getUpdate(this, value);
    else this.values?.request();
  }

  function onError(this: Member, error: unknown): void {
    if (this.hasLeft) return;
    cancel.call(this);
    this.reader.onError(error);
  }

  function request(this: Member): void {
    if (!this.hasLeft) this.values?.request();
  }

  function cancel(this: Member): void {
    if (this.hasLeft) return;
    this.hasLeft = true;
    this.values?.cancel();
    members -= 1;
    if (members === 0) onEmpty();
  }

  return {
    join(reader, subscribe = subscription.subscribe) {
      const member: Member = {
        reader,
        values: undefined,
        previous: undefined,
        hasLeft: false,
        onNext,
        onError,
        request,
        cancel,
      };
      member.values = subscribe(member);
      members += 1;
      return member;
    },
  };
}

function isSame(shared: Shared, value: unknown, previous: unknown): boolean {
  return shared.value === value && shared.previous === previous;
}
