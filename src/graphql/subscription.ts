import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  validateSubscriptionArgs,
} from 'graphql';
import type { Instant } from '../domain/instant.ts';
import { type Feed, isFeed } from '../loaders/feed.ts';
import { createContext, type Service } from './context.ts';
import type { Executor } from './execution/execute.ts';

/** An operation that was subscribed to: the values that come, and how the update of one is made for those who get it. */
export type Subscription = Pick<Feed, 'listen' | 'isNews' | 'tellsOfPrevious' | 'heightOf' | 'after'> & {
  /** Makes the update of a value for a reader that got `previous` before it. */
  execute(value: unknown, previous: unknown): Promise<ExecutedUpdate>;
};

/** An update as it was made, and whether it would be made the same at some moment. */
export type ExecutedUpdate = { readonly result: ExecutionResult; holds(now: Instant): boolean };

/** Subscribes to an operation. @returns why that cannot be, where it cannot */
export async function openSubscription(
  service: Service,
  executor: Executor,
  args: ExecutionArgs,
): Promise<Subscription | ExecutionResult> {
  const validated = validateSubscriptionArgs(args);
  if (!('schema' in validated)) return { errors: validated };
  const feed = await createSourceEventStream(validated);
  if (!isFeed(feed)) return feed as ExecutionResult;

  // What its first reader came with goes with that reader.
  const { schema, document, operationName, variableValues } = args;
  const operation = { ...validated, rootValue: undefined, contextValue: undefined };
  return {
    ...feed,
    async execute(value, previous) {
      const contextValue = createContext(service, { head: feed.headOf(value) });
      const rootValue = feed.toUpdate(value, previous);
      const event = { rootValue, contextValue };
      const planned = executor.execute({ schema, document, operationName, variableValues, ...event });
      const result = await (planned ?? executeSubscriptionEvent({ ...operation, ...event }));
      return { result, holds: contextValue.loaders.basis.holds };
    },
  };
}
