import type { Instant } from '../../domain/instant.ts';
import type { ExecutedUpdate, Subscription } from '../../graphql/subscription.ts';
import { itself, type Values } from '../../live/iterate.ts';
import type { MadeUpdate } from './made-update.ts';

/** All who have subscribed to one operation. */
export type UpdateGroup = {
  /** The updates as a new member gets them, each when it asks for it: one that is slow passes values over. */
  join(): Values<MadeUpdate>;
};

/** An update, and whether it would be made the same at some moment. */
export type Made = Pick<ExecutedUpdate, 'holds'> & { readonly update: MadeUpdate };

/** What a group is made of. */
export type UpdateGroupOptions = {
  readonly subscription: Subscription;
  /** Makes the update of a value for those who got `previous` before it. */
  make(value: unknown, previous: unknown): Promise<Made>;
  /** Resolves when a member that had to wait for its update may be given it. */
  turn(): Promise<void>;
  /** Told of each update that a member is given. */
  readonly handedOver: (update: MadeUpdate) => void;
  /** Told when the last member has left. */
  readonly onEmpty: () => void;
  readonly now: () => Instant;
};

type Member = {
  readonly values: Values<unknown>;
  /** The value whose update it got last. */
  previous: unknown;
  hasLeft: boolean;
};

/** What was made for some members, and serves the others who ask for the same. */
type Shared = {
  readonly value: unknown;
  /** What its readers have got before, where an update tells of that. */
  readonly previous: unknown;
  readonly making: Promise<MadeUpdate>;
  readonly askedAt: number;
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
export function createUpdateGroup(options: UpdateGroupOptions): UpdateGroup {
  const { subscription, make, turn, handedOver, onEmpty, now } = options;
  const isResumed = subscription.after !== undefined;
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
    const askedAt = performance.now();
    const making = make(value, previous).then((made) => {
      shared.made = { ...made, at: performance.now() };
      return made.update;
    });
    const shared: Shared = { value, previous, making, askedAt, made: undefined };
    // One that failed is made again for whoever asks next.
    making.catch(() => {
      kept = kept.filter((each) => each !== shared);
    });
    const others = kept.filter((each) => !isSame(each, value, previous) && isWorthKeeping(each, shared));
    kept = [shared, ...others].slice(0, isResumed ? MAX_KEPT_RESUMED : MAX_KEPT);
    return shared;
  }

  function sharedFor(value: unknown, before: unknown): Shared {
    const previous = subscription.tellsOfPrevious ? before : undefined;
    const known = kept.find((each) => isSame(each, value, previous));
    return known !== undefined && isUsable(known, before === undefined) ? known : share(value, previous);
  }

  function leave(member: Member): IteratorResult<MadeUpdate, undefined> {
    if (member.hasLeft) return END;
    member.hasLeft = true;
    members -= 1;
    if (members === 0) onEmpty();
    return END;
  }

  async function stop(member: Member): Promise<IteratorResult<MadeUpdate, undefined>> {
    await member.values.return?.();
    return leave(member);
  }

  /** Waits until an update is made; where it cannot be, the member has left. */
  async function whenMade({ making }: Shared, member: Member): Promise<MadeUpdate> {
    try {
      const update = await making;
      await turn();
      return update;
    } catch (error) {
      await stop(member);
      throw error;
    }
  }

  async function next(member: Member): Promise<IteratorResult<MadeUpdate, undefined>> {
    for (;;) {
      const { done, value } = await member.values.next();
      if (done) return leave(member);
      if (!subscription.isNews(value, member.previous)) continue;
      const shared = sharedFor(value, member.previous);
      const update = shared.made?.update ?? (await whenMade(shared, member));
      if (member.hasLeft) return END;
      member.previous = value;
      handedOver(update);
      return { done: false, value: update };
    }
  }

  return {
    join() {
      const member: Member = { values: subscription.listen(), previous: undefined, hasLeft: false };
      members += 1;
      return { [Symbol.asyncIterator]: itself, next: () => next(member), return: () => stop(member) };
    },
  };
}

const END = { done: true, value: undefined } as const;

function isSame(shared: Shared, value: unknown, previous: unknown): boolean {
  return shared.value === value && shared.previous === previous;
}
