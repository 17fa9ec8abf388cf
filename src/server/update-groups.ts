import { hash } from 'node:crypto';
import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  type GraphQLError,
  print,
  validateSubscriptionArgs,
} from 'graphql';
import { createContext, type Service } from '../graphql/context.ts';
import { createBreather } from '../live/breather.ts';
import type { Values } from '../live/iterate.ts';
import { type Feed, isFeed } from '../loaders/feed.ts';
import { type MadeUpdate, writeUpdate } from './made-update.ts';
import type { Metrics } from './metrics.ts';
import { createUpdateGroup, type Made, type UpdateGroup } from './update-group.ts';

/** The groups of all subscriptions that are open: one for each distinct operation, whichever doors its members came by. */
export type UpdateGroups = {
  /** Subscribes to an operation. @returns its updates, or why there are none */
  subscribe(args: ExecutionArgs): Promise<Values<MadeUpdate> | ExecutionResult>;
  /** The updates that the operation of a context has subscribed to, to be returned by whoever takes them. */
  updatesOf(context: object): Values<MadeUpdate> | undefined;
};

/** What groups are made of. */
export type UpdateGroupsOptions = {
  readonly service: Service;
  readonly metrics: Metrics;
  /** The border that errors of updates cross. */
  readonly maskError: (error: unknown) => GraphQLError;
};

/** An update can take long to make: made all at once, those of a thousand operations would keep everyone else waiting. */
const MADE_AT_ONCE = 4;

/** How many members that waited for an update are given it at once. */
const GIVEN_AT_ONCE = 16;

type Subscription = Exclude<ReturnType<typeof validateSubscriptionArgs>, readonly GraphQLError[]>;

/** Makes the keeper of groups. */
export function createUpdateGroups({ service, metrics, maskError }: UpdateGroupsOptions): UpdateGroups {
  const groups = new Map<string, UpdateGroup>();
  const subscribed = new WeakMap<object, Values<MadeUpdate>>();
  const making = createBreather(MADE_AT_ONCE);
  const giving = createBreather(GIVEN_AT_ONCE);

  /** Executes one update as an answer of its own, at its own head. */
  async function make(subscription: Subscription, feed: Feed, value: unknown, previous: unknown): Promise<Made> {
    await making.take();
    const contextValue = createContext(service, { head: feed.headOf(value) });
    try {
      const rootValue = feed.toUpdate(value, previous);
      const result = await executeSubscriptionEvent({ ...subscription, rootValue, contextValue });
      const masked = result.errors ? { ...result, errors: result.errors.map(maskError) } : result;
      return { update: writeUpdate(masked, feed.heightOf(value)), basis: contextValue.loaders.basis };
    } catch (error) {
      throw maskError(error);
    }
  }

  function open(key: string, subscription: Subscription, feed: Feed): UpdateGroup {
    // What its first member came with goes with that member.
    const operation: Subscription = { ...subscription, rootValue: undefined, contextValue: undefined };
    const group = createUpdateGroup({
      feed,
      make: (value, previous) => make(operation, feed, value, previous),
      turn: giving.take,
      handedOver: ({ outcome }) => metrics.executed('update', outcome),
      onEmpty: () => groups.get(key) === group && groups.delete(key),
      now: service.now,
    });
    groups.set(key, group);
    return group;
  }

  return {
    async subscribe(args) {
      const subscription = validateSubscriptionArgs(args);
      if (!('schema' in subscription)) return { errors: subscription };
      // Also where there is a group: what it follows may have become unknown since it began.
      const feed = await createSourceEventStream(subscription);
      if (!isFeed(feed)) return feed as ExecutionResult;

      const key = keyOf(args, feed);
      const group = groups.get(key) ?? open(key, subscription, feed);
      const updates = group.join();
      subscribed.set(args.contextValue as object, updates);
      return updates;
    },
    updatesOf: (context) => subscribed.get(context),
  };
}

/** What two operations have in common where all their updates are the same. */
function keyOf({ document, operationName, variableValues }: ExecutionArgs, { after }: Feed): string {
  const text = document.loc?.source.body ?? print(document);
  return hash('sha256', JSON.stringify([text, operationName, variableValues, after]), 'base64');
}
