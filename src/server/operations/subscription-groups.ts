import { hash } from 'node:crypto';
import { type ExecutionArgs, type ExecutionResult, type GraphQLError, print } from 'graphql';
import type { Service } from '../../graphql/context.ts';
import { textOf } from '../../graphql/document-locations.ts';
import { maskErrors } from '../../graphql/errors.ts';
import type { Executor } from '../../graphql/execution/execute.ts';
import { WrittenResult } from '../../graphql/execution/written-result.ts';
import { type OpenedSubscription, openSubscription } from '../../graphql/subscription.ts';
import type { Subscribe } from '../../live/broadcast/subscriber.ts';
import { createTurnLimit } from '../../live/broadcast/turn-limit.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type EncodedUpdate, encodeUpdate } from './encoded-update.ts';
import { createSubscriptionGroup, type SubscriptionGroup } from './subscription-group.ts';

/** The groups of all subscriptions that are open: one for each distinct operation, whichever doors its members came by. */
export type SubscriptionGroups = {
  /** Subscribes to an operation. @returns its updates, for whoever listens to them, or why there are none */
  subscribe(args: ExecutionArgs): Promise<Subscribe<EncodedUpdate> | ExecutionResult>;
  /** Gives the updates that the operation of a context has subscribed to to the door that sends them, once. */
  takeUpdates(context: object): Subscribe<EncodedUpdate> | undefined;
};

/** What groups are made of. */
export type SubscriptionGroupsOptions = {
  readonly service: Service;
  readonly executor: Executor;
  readonly metrics: Metrics;
  /** The border that errors of updates cross. */
  readonly maskError: (error: unknown) => GraphQLError;
};

/** An update can take long to make: made all at once, those of a thousand operations would keep everyone else waiting. */
const MADE_AT_ONCE = 4;

/** How many members that waited for an update are given it at once. */
const GIVEN_AT_ONCE = 16;

/** Makes the keeper of groups. */
export function createSubscriptionGroups({
  service,
  executor,
  metrics,
  maskError,
}: SubscriptionGroupsOptions): SubscriptionGroups {
  const groups = new Map<string, SubscriptionGroup>();
  const subscribed = new WeakMap<object, Subscribe<EncodedUpdate>>();
  const making = createTurnLimit(MADE_AT_ONCE);
  const giving = createTurnLimit(GIVEN_AT_ONCE);

  function open(key: string, subscription: OpenedSubscription): SubscriptionGroup {
    const group = createSubscriptionGroup({
      subscription,
      async make(value, previous) {
        await making.wait();
        try {
          const { result, holds } = await subscription.execute(value, previous);
          return { update: encodeUpdate(maskErrors(result, maskError), subscription.heightOf(value)), holds };
        } catch (error) {
          throw maskError(error);
        }
      },
      turn: giving.wait,
      handedOver: ({ outcome }) => metrics.recordOperation('update', outcome),
      onEmpty: () => groups.get(key) === group && groups.delete(key),
      now: service.now,
    });
    groups.set(key, group);
    return group;
  }

  return {
    async subscribe(args) {
      // Also where there is a group: what it follows may have become unknown since it began.
      const subscription = await openSubscription(service, executor, args);
      if (!('execute' in subscription)) return new WrittenResult(undefined, subscription.errors?.map(maskError));

      const key = keyOf(args, subscription);
      const updates: Subscribe<EncodedUpdate> = (reader) =>
        (groups.get(key) ?? open(key, subscription)).join(reader, subscription.subscribe);
      subscribed.set(args.contextValue as object, updates);
      return updates;
    },
    takeUpdates(context) {
      const updates = subscribed.get(context);
      subscribed.delete(context);
      return updates;
    },
  };
}

/** What two operations have in common where all their updates are the same. */
function keyOf(
  { document, operationName, variableValues }: ExecutionArgs,
  { resumesAfter: after }: OpenedSubscription,
): string {
  const text = textOf(document) ?? print(document);
  return hash('sha256', JSON.stringify([text, operationName, variableValues, after]), 'base64');
}
