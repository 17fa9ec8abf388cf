import { createSourceEventStream, type ExecutionArgs, type ExecutionResult, validateSubscriptionArgs } from 'graphql';
import type { Instant } from '../domain/instant.ts';
import { withoutStacks } from '../errors.ts';
import { isSourceStream, type SourceStream } from '../loaders/source-stream.ts';
import { createContext, type Service } from './context.ts';
import type { Executor, Prepared } from './execution/execute.ts';
import type { WrittenResult } from './execution/written-result.ts';

/** An operation that was subscribed to: the values that come, and how the update of one is made for those who get it. */
export type OpenedSubscription = Pick<
  SourceStream,
  'subscribe' | 'isChange' | 'dependsOnPrevious' | 'heightOf' | 'resumesAfter'
> & {
  /** Makes the update of a value for a reader that got `previous` before it. */
  execute(value: unknown, previous: unknown): Promise<ExecutedUpdate>;
};

/** An update as it was made, and whether it would be made the same at some moment. */
export type ExecutedUpdate = { readonly result: WrittenResult; holds(now: Instant): boolean };

/** Subscribes to an operation. @returns why that cannot be, where it cannot */
export async function openSubscription(
  service: Service,
  executor: Executor,
  args: ExecutionArgs,
): Promise<OpenedSubscription | ExecutionResult> {
  const { schema, document, operationName, variableValues } = args;
  const validated = withoutStacks(() => validateSubscriptionArgs({ ...args, options: FEW_ERRORS }));
  if (!('schema' in validated)) return { errors: validated };
  const feed = await createSourceEventStream(validated);
  if (!isSourceStream(feed)) return feed as ExecutionResult;

  let run: Prepared | undefined;
  return {
    ...feed,
    async execute(value, previous) {
      // Not before: most who subscribe find a group.
      run ??= executor.prepare({ schema, document, operationName, variableValues });
      const context = createContext(service, { head: feed.headOf(value) });
      const result = await run(feed.toUpdate(value, previous), context);
      return { result, holds: context.loaders.dependencies.areCurrent };
    },
  };
}

/** Each quotes what was given, as with queries. */
const FEW_ERRORS = { maxCoercionErrors: 5 };
