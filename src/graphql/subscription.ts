import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  executeSubscriptionEvent,
  type ValidatedSubscriptionArgs,
  validateSubscriptionArgs,
} from 'graphql';
import type { Instant } from '../domain/instant.ts';
import { type Feed, isFeed } from '../loaders/feed.ts';
import { createContext, type Service } from './context.ts';
import type { Executor, Prepared } from './execution/execute.ts';

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

  // What its first reader came with beside that goes with that reader.
  const { schema, document, operationName, variableValues } = args;
  const operation = { ...validated, rootValue: undefined, contextValue: undefined };
  let run: Prepared | undefined;
  return {
    ...feed,
    async execute(value, previous) {
      // Not before: most who subscribe find a group.
      run ??= executor.prepare({ schema, document, operationName, variableValues }) ?? asItStands(operation);
      const context = createContext(service, { head: feed.headOf(value) });
      const result = await run(feed.toUpdate(value, previous), context);
      return { result, holds: context.loaders.basis.holds };
    },
  };
}

/** Executes what cannot be planned. */
function asItStands(operation: ValidatedSubscriptionArgs): Prepared {
  return (rootValue, contextValue) => executeSubscriptionEvent({ ...operation, rootValue, contextValue });
}
